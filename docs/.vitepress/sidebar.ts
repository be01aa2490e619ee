import type { DefaultTheme } from 'vitepress'

type Section = [title: string, items: [text: string, address: string][]]

const sections: Section[] = [
  [
    'Quick start',
    [
      ['Developer', '/start/developer'],
      ['Operator', '/start/operator'],
      ['Administrator', '/start/administrator'],
      ['Auditor', '/start/auditor'],
      ['Agent builder', '/start/agent-builder'],
    ],
  ],
  [
    'Concepts',
    [
      ['How the Hub works', '/concepts'],
      ['Glossary', '/glossary'],
      ['Exact bytes of proofs', '/provenance'],
    ],
  ],
  [
    'Guides',
    [
      ['Five-minute tour', '/tour'],
      ['Command center', '/command-center'],
      ['Budgets', '/budgets'],
      ['Administration', '/administrator'],
      ['Onboarding by API', '/onboarding'],
      ['Auditing', '/auditor'],
      ['Evidence packs', '/evidence-packs'],
      ['Commands', '/commands'],
    ],
  ],
  [
    'Integrations',
    [
      ['API for programs', '/connector-developer'],
      ['TypeScript SDK', '/sdk/typescript'],
      ['Python SDK', '/sdk/python'],
      ['OpenTelemetry', '/opentelemetry'],
      ['AI agents (MCP)', '/agents'],
      ['Webhooks', '/webhooks'],
      ['Import of files', '/import'],
    ],
  ],
  [
    'Operations',
    [
      ['Deployment', '/deploy'],
      ['Operation', '/operator'],
      ['Configuration', '/configuration'],
      ['Metrics', '/metrics'],
      ['Benchmarks', '/benchmarks'],
    ],
  ],
  [
    'Security',
    [
      ['Sign-in, tokens and limits', '/security'],
      ['Report a vulnerability', '/report-a-vulnerability'],
    ],
  ],
  [
    'About',
    [
      ['Comparison', '/comparison'],
      ['FAQ', '/faq'],
      ['Changelog', '/changelog'],
      ['Contributing', '/contributing'],
      ['Code map', '/code-map'],
      ['Decision records', '/adr/'],
    ],
  ],
]

/** Returns the navigation of the site. */
export function sidebar(): DefaultTheme.SidebarItem[] {
  return sections.map(([text, items]) => ({ text, items: items.map(([text, link]) => ({ text, link })) }))
}
