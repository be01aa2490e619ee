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
    'Concepts and terms',
    [
      ['Concepts', '/concepts'],
      ['Glossary', '/glossary'],
      ['Exact bytes of records', '/provenance'],
      ['Exact bytes of logs and exports', '/provenance-log'],
    ],
  ],
  [
    'Guides',
    [
      ['Five-minute tour', '/tour'],
      ['Tour: read and verify', '/tour-read'],
      ['Tour: hold, erase and audit', '/tour-audit'],
      ['Examples', '/examples'],
      ['The web UI', '/web-ui'],
      ['Command center', '/command-center'],
      ['Budgets', '/budgets'],
      ['Commands (CLI)', '/commands'],
    ],
  ],
  [
    'Administration',
    [
      ['Administration', '/administrator'],
      ['Onboarding a tenant by API', '/onboarding'],
      ['People and directory', '/people'],
      ['Sign-in', '/sign-in'],
      ['Service accounts', '/service-accounts'],
      ['Skills and connectors', '/skills'],
      ['Prices', '/prices'],
      ['Holds, purging and retention', '/retention'],
      ['Audit log', '/audit-log'],
    ],
  ],
  [
    'Auditing',
    [
      ['Auditing', '/auditor'],
      ['Verify without the Hub', '/verification'],
      ['Attacks by a database administrator', '/attacks'],
      ['Evidence packs', '/evidence-packs'],
      ['Exports', '/exports'],
    ],
  ],
  [
    'Integrations',
    [
      ['API for programs', '/connector-developer'],
      ['API reference', '/api/'],
      ['Errors', '/errors/'],
      ['Write decisions, outputs and artifacts', '/write-records'],
      ['Read and search records', '/query'],
      ['Receive skills', '/receive-skills'],
      ['TypeScript SDK', '/sdk/typescript'],
      ['TypeScript SDK reference', '/sdk/typescript-reference'],
      ['Python SDK', '/sdk/python'],
      ['Python SDK reference', '/sdk/python-reference'],
      ['OpenTelemetry', '/opentelemetry'],
      ['AI agents (MCP)', '/agents'],
      ['Webhooks', '/webhooks'],
      ['Webhook receivers', '/webhook-receiver'],
      ['Import telemetry from files', '/import'],
    ],
  ],
  [
    'Operations',
    [
      ['Deployment', '/deploy'],
      ['Operation', '/operator'],
      ['Staging and production', '/production'],
      ['Monitoring', '/monitoring'],
      ['Backup and restore', '/backup'],
      ['Rotate keys and secrets', '/keys'],
      ['Capacity', '/capacity'],
      ['Several processes', '/scaling'],
      ['High availability', '/high-availability'],
      ['Guarantees under faults', '/guarantees'],
      ['Several database servers', '/distribution'],
      ['Mode B: keys of customers', '/mode-b'],
      ['Mode C: content stays with the customer', '/mode-c'],
      ['Configuration', '/configuration'],
      ['Metrics', '/metrics'],
      ['Benchmarks', '/benchmarks'],
    ],
  ],
  [
    'Security',
    [
      ['Security model', '/security'],
      ['Report a vulnerability', '/report-a-vulnerability'],
    ],
  ],
  [
    'About',
    [
      ['Comparison with other products', '/comparison'],
      ['FAQ', '/faq'],
      ['Changelog', '/changelog'],
      ['Contributing', '/contributing'],
      ['Code map', '/code-map'],
      ['Architecture decision records', '/adr/'],
    ],
  ],
]

/** Returns the navigation of the site. */
export function sidebar(): DefaultTheme.SidebarItem[] {
  return sections.map(([text, items]) => ({ text, items: items.map(([text, link]) => ({ text, link })) }))
}
