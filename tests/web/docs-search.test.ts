import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import MiniSearch from 'minisearch'
import { describe, expect, test } from 'vitest'

const docs = resolve(import.meta.dirname, '../../docs/.vitepress')
const chunks = join(docs, 'dist/assets/chunks')
/** Sections that a reader sees without scrolling. */
const seen = 8

/** Loads the index as the search box of VitePress does. */
async function loadIndex(): Promise<MiniSearch> {
  const file = readdirSync(chunks).find((name) => /^@localSearchIndexroot\..*\.js$/.test(name))
  const { default: text } = await import(join(chunks, file!))
  return MiniSearch.loadJSON(text, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } },
  })
}
const index = await loadIndex()

/** The features of the product by the words that people use, and the page that they look for. */
const usualWords: [word: string, page: string][] = [
  ['SSO', 'sign-in'],
  ['single sign-on', 'sign-in'],
  ['magic link', 'sign-in'],
  ['SCIM', 'people'],
  ['audit log', 'audit-log'],
  ['cost', 'faq'],
  ['budget', 'budgets'],
  ['p95 latency', 'command-center'],
  ['OpenTelemetry', 'opentelemetry'],
  ['Claude Code', 'opentelemetry'],
  ['LiteLLM', 'opentelemetry'],
  ['webhook signature', 'webhook-receiver'],
  ['legal hold', 'retention'],
  ['retention', 'retention'],
  ['GDPR erasure', 'retention'],
  ['right to be forgotten', 'retention'],
  ['export', 'exports'],
  ['security model', 'security'],
  ['threat model', 'security'],
  ['BYOK', 'mode-b'],
  ['delete a record', 'retention'],
  ['remove a tenant', 'operator'],
  ['troubleshooting', 'monitoring'],
  ['Keycloak', 'sign-in'],
  ['Parquet', 'verification'],
  ['CSV import', 'import'],
  ['MCP', 'agents'],
  ['service account', 'onboarding'],
  ['scopes', 'service-accounts'],
  ['rate limit', 'connector-developer'],
  ['idempotency', 'connector-developer'],
  ['pagination', 'query'],
  ['cosignature', 'provenance'],
  ['verify offline', 'verification'],
  ['checkpoint', 'backup'],
  ['evidence pack', 'evidence-packs'],
  ['EU AI Act', 'evidence-packs'],
  ['four eyes', 'retention'],
  ['Kubernetes', 'deploy'],
  ['Docker', 'deploy'],
  ['Prometheus', 'metrics'],
  ['Grafana', 'metrics'],
  ['backup', 'backup'],
  ['customer key', 'mode-b'],
  ['Mode C forwarder', 'mode-c'],
  ['SIEM', 'webhook-receiver'],
  ['prices', 'prices'],
  ['quick start', 'start/developer'],
  ['TypeScript', 'sdk/typescript'],
  ['HubClient', 'sdk/typescript-reference'],
  ['BatcherOptions', 'sdk/typescript-reference-types'],
  ['verifyProofBundle', 'sdk/typescript-reference-verify'],
  ['Python', 'sdk/python'],
  ['LangChain', 'sdk/python'],
  ['AsyncHub', 'sdk/python-reference'],
  ['track_openai', 'sdk/python-reference-tracking'],
  ['verify_webhook', 'sdk/python-reference-errors'],
  ['archetype', 'people'],
  ['full-text search', 'query'],
  ['saved view', 'command-center'],
  ['session trace', 'command-center'],
  ['metric alert', 'webhooks'],
  ['upgrade', 'operator'],
  ['Valkey', 'scaling'],
  ['PgBouncer', 'scaling'],
  ['notifications', 'web-ui'],
  ['high availability', 'high-availability'],
  ['failover', 'high-availability'],
  ['cluster', 'distribution'],
  ['Citus', 'distribution'],
  ['point-in-time recovery', 'backup'],
  ['capacity', 'capacity'],
  ['Slack', 'webhooks'],
  ['row-level security', 'security'],
  ['attacks', 'attacks'],
  ['benchmarks', 'benchmarks'],
  ['changelog', 'changelog'],
  ['comparison', 'comparison'],
  ['SAML', 'sign-in'],
  ['roles', 'people'],
  ['forecast', 'budgets'],
  ['records', 'query'],
  ['telemetry', 'api/telemetry'],
  ['proof', 'verification'],
  ['sessions', 'command-center'],
  ['alerts', 'webhooks'],
  ['error rate', 'faq'],
  ['OIDC', 'faq'],
  ['MFA', 'faq'],
  ['encryption', 'faq'],
  ['SCIM provisioning', 'people'],
  ['multi-tenant', 'operator'],
  ['holds', 'retention'],
  ['purge', 'retention'],
  ['deletion certificate', 'verification'],
  ['onboarding API', 'onboarding'],
  ['tenant health', 'onboarding'],
  ['webhooks', 'webhooks'],
  ['agents', 'agents'],
  ['SDK', 'sdk/typescript'],
  ['CLI', 'commands'],
  ['operations', 'operator'],
  ['install', 'deploy'],
  ['examples', 'examples'],
  ['write a decision', 'write-records'],
  ['artifact', 'write-records'],
  ['custom event', 'write-records'],
]

describe('the search of the site', () => {
  test.each(usualWords)('finds %s at %s', (word, page) => {
    const found = index.search(word).slice(0, seen)
    const pages = found.map(({ id }) =>
      String(id)
        .replace(/^\/docs\//, '')
        .replace(/#.*/, ''),
    )
    expect(pages).toContain(page)
  })

  test('finds operations and errors', () => {
    expect(index.search('list budgets')[0]!.id).toBe('/docs/api/budgets#list-budgets-with-what-is-spent')
    expect(index.search('skill-not-registered').map(({ id }) => id)).toContain(
      '/docs/errors/skill-not-registered#error-skill-not-registered',
    )
  })

  test('finds nothing for a word that no page has', () => {
    expect(index.search('xylophonist')).toEqual([])
  })

  test('loads at most 250 KB, compressed', () => {
    const file = readdirSync(chunks).find((name) => /^@localSearchIndexroot\..*\.js\.br$/.test(name))
    expect(readFileSync(join(chunks, file!)).length).toBeLessThan(250_000)
  })
})

test('the start page loads at most 300 KB of scripts, styles and fonts, compressed', () => {
  const dist = join(docs, 'dist')
  const page = readFileSync(join(dist, 'index.html'), 'utf8')
  const files = [...page.matchAll(/(?:src|href)="\/docs\/(assets\/[^"]+)"/g)].map(([, file]) => file!)
  const sizeOf = (file: string) => {
    const compressed = readdirSync(join(dist, file, '..')).includes(`${file.split('/').at(-1)}.br`)
    return readFileSync(join(dist, compressed ? `${file}.br` : file)).length
  }
  const bytes = [...new Set(files)].reduce((sum, file) => sum + sizeOf(file), 0)
  expect(files.length).toBeGreaterThan(3)
  expect(bytes).toBeLessThan(300_000)
})
