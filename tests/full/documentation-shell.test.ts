import { execFile } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { decision, governanceEvent, recordsPath } from '../api/record-cases.ts'
import { registerSkill } from '../api/telemetry-tenants.ts'
import { startHubWithCompany } from '../onboarding/hub-with-company.ts'
import type { TestHub } from '../support/hub.ts'
import { commandsOfPages, pagesRunElsewhere, runOf } from '../support/page-commands.ts'
import { snippetsOf } from '../support/page-snippets.ts'
import { curlStandIn, installedCurl } from '../support/readme-tour.ts'
import { groupEntry, manyPeople } from '../support/scim-source.ts'
import { operatorToken, tenantsPath } from '../tenants/operator-lab.ts'

const root = resolve(import.meta.dirname, '../..')

const pages = Map.groupBy(
  commandsOfPages()
    .filter(({ page }) => !(page in pagesRunElsewhere) && page.startsWith('docs/'))
    .map(({ page, code }) => ({ page, code: runOf(code) }))
    .filter(({ code }) => code.trim() !== ''),
  ({ page }) => page,
)

/** A request that a page sent, and how the Hub answered. */
interface Exchange {
  method: string
  path: string
  status: number
}

let hub: TestHub
let folder: string
let variables: Record<string, string>
/** Addresses and secrets of the pages, and those that stand for them here. */
let replacements: [shown: RegExp, real: string][]
const stops: (() => Promise<unknown>)[] = []
const exchanges: Exchange[] = []
const note = (message: unknown) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
  if (request.headers.host !== new URL(hub.baseUrl).host) return
  exchanges.push({ method: request.method!, path: request.url!, status: response.statusCode })
}

beforeAll(async () => {
  const users = manyPeople(4)
  const groups = [groupEntry('Support', users), groupEntry('Analysts', users), groupEntry('Writers', [])]
  const company = await startHubWithCompany({ users, groups })
  const { provider, source, receiver } = company
  hub = company.hub
  stops.push(company.close)
  folder = await mkdtemp(join(tmpdir(), 'hub-shell-'))
  stops.push(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'curl'), `#!/bin/sh\nexec ${installedCurl() ?? curlStandIn} "$@"\n`)
  await chmod(join(folder, 'curl'), 0o755)
  // docs/verification.md says to save it in the checkout.
  const verifier = snippetsOf('docs/verification.md').find(({ code }) => code.includes('verifyRecordsSync('))
  await writeFile(join(folder, 'verify-page.ts'), verifier!.code)
  await symlink(join(root, 'provenance'), join(folder, 'provenance'))
  replacements = [
    [/http:\/\/127\.0\.0\.1:8080|https:\/\/hub\.example\.com/g, hub.baseUrl],
    [/https:\/\/login\.\w+\.example/g, provider.issuer],
    [/https:\/\/directory\.\w+\.example\/scim\/v2/g, source.baseUrl],
    [/https:\/\/desk\.\w+\.example\/skills/g, receiver.url],
    [/<token>|zR8vB2nM5kQ7wE1t/g, source.token],
    ...(await prepareInbound()),
  ]
  variables = { HUB: hub.baseUrl, TENANT: 'acme', HUB_OPERATOR_TOKEN: operatorToken, ...(await prepareRecords()) }
  subscribe('http.server.response.finish', note)
  stops.push(async () => unsubscribe('http.server.response.finish', note))
})
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

// Pages replace the bundle.
beforeEach(setArchetypes)

async function setArchetypes(): Promise<void> {
  const archetypes = ['analyst', 'support-agent', 'account-executive'].map((archetype_id) => ({ archetype_id }))
  const answer = await hub.call('acme', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes } })
  expect(answer.status, answer.text).toBe(200)
}

/** Stores the things whose ids the pages have as variables. */
async function prepareRecords(): Promise<Record<string, string>> {
  const must = async (method: string, path: string, body: object) => {
    const answer = await hub.call('acme', method, path, { body })
    expect(answer.status, answer.text).toBeLessThan(300)
    return answer.body
  }
  await setArchetypes()
  for (const skill of ['sum-up', 'reply-draft', 'summarise-ticket']) await registerSkill(hub, 'acme', skill)
  const [stored, held, event] = [
    await must('POST', recordsPath, decision),
    await must('POST', recordsPath, { ...decision, decision_id: 'DEC-2' }),
    await must('POST', recordsPath, governanceEvent),
  ]
  const body = { name: 'Page', reason: 'Page', record_ids: [held.record_id] }
  const { hold_id } = await must('POST', '/api/v1/hub/legal-holds', body)
  const account = await must('POST', '/api/v1/service-accounts', { name: 'page', scopes: ['hub:read'] })
  // docs/keys.md rotates their secrets.
  await must('POST', '/api/v1/webhooks', { url: 'https://hooks.acme.example/keys', events: ['user.*'] })
  await must('POST', '/api/v1/llm/connectors', { platform: 'slack', display_name: 'Keys', delivery: 'pull' })
  await must('POST', '/api/v1/identity/scim/configure', { mode: 'push', group_archetype_map: [] })
  const job = await must('POST', '/api/v1/hub/records:export', { filter: {}, format: 'jsonl' })
  const link = await hub.call('acme', 'POST', `${tenantsPath}/acme:welcome-link`, { token: operatorToken })
  expect(link.status, link.text).toBeLessThan(300)
  return {
    ...{ TOKEN: await hub.token('acme'), LINK: link.body.welcome_url },
    ...{ DECISION: stored.record_id, RECORD: stored.record_id, EVENT: event.record_id, HOLD: hold_id },
    ...{ ID: account.client_id, JOB: job.job_id },
  }
}

/** Makes a tenant of Mode B, and returns the variables of its page. */
async function prepareModeB(): Promise<Record<string, string>> {
  const actor = { operator: 'test' }
  const tenant = { slug: 'initrode', mode: 'B', adminEmail: 'admin@initrode.example' } as const
  await hub.modules.tenants.administration.create(tenant, actor)
  const found = await hub.modules.tenants.directory.find(tenant.slug)
  const account = await hub.modules.auth.serviceAccounts.create(found!, { name: 'page', scopes: scopeNames }, actor)
  const { client_id, client_secret } = account
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const answer = await fetch(`${hub.baseUrl}/api/v1/oauth/token`, { method: 'POST', body })
  const { access_token } = (await answer.json()) as { access_token: string }
  return { TENANT: tenant.slug, TOKEN: access_token }
}

/** Makes the connections of docs/webhooks.md, and returns what stands for those that it shows. */
async function prepareInbound(): Promise<typeof replacements> {
  const slack = { platform: 'slack', display_name: 'Page', delivery: 'pull' }
  const shown: [string, string, object][] = [
    ['con', '/api/v1/llm/connectors', slack],
    ['scim', '/api/v1/identity/scim/configure', { mode: 'push', group_archetype_map: [] }],
  ]
  await registerSkill(hub, 'globex', 'sum-up')
  const archetypes = [{ archetype_id: 'support-agent' }]
  await hub.call('globex', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes } })
  const made = []
  for (const [kind, path, body] of shown) {
    const { inbound } = (await hub.call('globex', 'POST', path, { body })).body
    const settings = `CONNECTION=${inbound.connection_id} INBOUND_SECRET=${inbound.secret}`
    made.push([new RegExp(`CONNECTION=${kind}_\\w+ INBOUND_SECRET=whsec_…`, 'g'), settings] as [RegExp, string])
  }
  return made
}

/** The commands that the pages use. The last two run the command line of this checkout, without npm. */
const functions = `
call() { curl -s -H "Authorization: Bearer $TOKEN" -H "X-Service-Tenant: $TENANT" -H 'Content-Type: application/json' "$@"; }
field() { '${process.execPath}' -p "JSON.parse(fs.readFileSync(0)).$1"; }
npm() { while [ "$1" != -- ]; do shift; done; shift; '${process.execPath}' '${join(root, 'cli/hub.js')}' "$@"; }
npx() { "$@"; }
`

/** Runs the commands of a page in one shell, in the scratch folder. Rejects if the last one of a line fails. */
async function run(page: string, code: string): Promise<void> {
  const here = replacements.reduce((text, [shown, real]) => text.replaceAll(shown, real), code)
  const file = join(folder, 'page.sh')
  await writeFile(file, `set -e -o pipefail\n${functions}\n${here}`)
  const env = {
    ...{ PATH: `${folder}:${process.env.PATH}`, HOME: folder, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    ...{ HUB_DATABASE_URL: hub.test.url, HUB_MASTER_KEY: hub.test.masterKey.toString('base64') },
    ...{ HUB_DATA_DIR: join(folder, 'data'), HUB_BASE_URL: hub.baseUrl, HUB_METRICS_PORT: 'off' },
    ...variables,
    ...(page === 'docs/mode-b.md' ? await prepareModeB() : {}),
  }
  await promisify(execFile)('bash', ['--noprofile', '--norc', file], { cwd: folder, env })
}

/** Requests that the Hub refuses here, with the reason. */
const refused: Record<string, [request: string, status: number][]> = {
  // The tenant exists.
  'docs/operator.md': [['POST /api/v1/operator/tenants', 409]],
  // The record is not erased.
  'docs/verification.md': [['GET /api/v1/hub/records/:id/deletion-certificate', 409]],
}

test.each([...pages.keys()])('the commands of %s run, and the Hub takes their requests', async (page) => {
  exchanges.length = 0
  const code = pages.get(page)!.map((one) => one.code)
  await run(page, code.join('\n'))
  const failed = exchanges.filter(({ status }) => status >= 400)
  const ids = /(?<=\/)[0-9a-f-]{36}/g
  expect(failed.map(({ method, path, status }) => [`${method} ${path.replace(ids, ':id')}`, status])).toEqual(
    refused[page] ?? [],
  )
  const sent = code.join('\n').match(/^(?!\s|.*\(\) \{).*\b(?:call|curl|api|send) ["$'\w-]/gm) ?? []
  expect(exchanges.length).toBeGreaterThanOrEqual(sent.length)
})
