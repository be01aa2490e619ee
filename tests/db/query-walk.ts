import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import type { CallOptions, TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { walkAgents } from './agents-walk.ts'
import { walkAlerts } from './alerts-walk.ts'
import { walkAudit } from './audit-walk.ts'
import { walkBudgets } from './budgets-walk.ts'
import { walkCustomerKeys } from './cmek-walk.ts'
import { walkConnectors } from './connectors-walk.ts'
import { walkDirectory } from './directory-walk.ts'
import { walkEntitlement } from './entitlement-walk.ts'
import { walkErasure } from './erasure-walk.ts'
import { walkExportFiles } from './export-files-walk.ts'
import { walkExports } from './exports-walk.ts'
import { walkHolds } from './holds-walk.ts'
import { walkInbound } from './inbound-walk.ts'
import { walkLog } from './log-walk.ts'
import { walkNotifications } from './notifications-walk.ts'
import { walkOutbox } from './outbox-walk.ts'
import { walkScim } from './scim-walk.ts'
import { walkSearch } from './search-walk.ts'
import { walkSessions } from './session-walk.ts'
import { walkSso } from './sso-walk.ts'
import { walkSweep } from './sweep-walk.ts'
import {
  foldAndRebuild,
  rateAgain,
  setPrices,
  summarizeInAllWays,
  walkOtlp,
  walkSessionsAndTraces,
} from './telemetry-walk.ts'
import { walkTenants } from './tenants-walk.ts'
import { walkViews } from './views-walk.ts'
import { call } from './walk-call.ts'
import { walkWebhooks } from './webhooks-walk.ts'

/** Calls everything that sends SQL, in all its variants, so that each statement is seen. Answers nothing. */

const operator = { operator: 'test' } as const
const records = '/api/v1/hub/records'
const limits = { 'hub-read': { per_token: 1_000_000, per_tenant: 1_000_000 } }

const tenants = ['acme', 'globex'] as const

export async function walkEverything(hub: TestHub): Promise<void> {
  // Side by side, because much of it is waiting for jobs and for time to pass.
  await Promise.all(tenants.map((tenant) => walkRecords(hub, tenant)))
  // One tenant after the other, because each starts and stops what serves both.
  for (const tenant of tenants) {
    await walkConnectors(hub, tenant)
    await walkWebhooks(hub, tenant)
  }
  await Promise.all(tenants.map((tenant) => walkPeople(hub, tenant)))
  for (const tenant of tenants) {
    await walkSweep(hub, tenant)
    await walkAudit(hub, tenant)
  }
  await Promise.all([walkCustomerKeys(hub), queryInAllWays(hub), summarizeInAllWays(hub)])
  await hub.modules.workLag.read()
  await configure(hub)
  await administer(hub)
  await hub.modules.keys.tokens.rotate()
}

async function walkRecords(hub: TestHub, tenant: Tenant): Promise<void> {
  await prepareTelemetry(hub, tenant)
  await hub.modules.tenants.operated.update(tenant, { limits }, operator)
  await setPrices(hub, tenant)
  const ids = await writeRecords(hub, tenant)
  await purgeAndRestore(hub, tenant, ids)
  await tamperAndVerify(hub, tenant, ids)
  await repeatRequests(hub, tenant)
  await foldAndRebuild(hub, tenant)
  await walkHolds(hub, tenant)
  await walkLog(hub, tenant)
  await walkSso(hub, tenant)
  await Promise.all([rateAgain(hub, tenant), walkExports(hub, tenant), walkScim(hub, tenant)])
  await walkExportFiles(hub, tenant)
  await walkInbound(hub, tenant)
  await walkOtlp(hub, tenant)
  await walkSessionsAndTraces(hub, tenant)
}

async function walkPeople(hub: TestHub, tenant: Tenant): Promise<void> {
  await walkAlerts(hub, tenant)
  await walkTenants(hub, tenant)
  await walkSessions(hub, tenant)
  await manageUsers(hub, tenant)
  await walkDirectory(hub, tenant)
  await useLinks(hub, tenant)
  await walkEntitlement(hub, tenant)
  await walkOutbox(hub, tenant)
  await walkViews(hub, tenant)
  await walkBudgets(hub, tenant)
  await walkNotifications(hub, tenant)
  await walkSearch(hub, tenant)
  await walkAgents(hub, tenant)
  await walkErasure(hub, tenant)
}

type Tenant = (typeof tenants)[number]

interface Ids {
  output: string
  artifact: string
  governance: string
  telemetry: string
}

async function writeRecords(hub: TestHub, tenant: Tenant): Promise<Ids> {
  const write = async (body: object) => (await call(hub, tenant, 'POST', records, { body })).record_id as string
  const ids: Partial<Ids> = {}
  for (let round = 0; round < 3; round += 1) {
    ids.artifact = await write({ record_type: 'artifact', title: 'Contract' })
    const made = { skill_id: 'sum-up', archetype_id: 'analyst', user_id: 'user:kim@example.com', cost_usd_estimate: 1 }
    ids.output = await write({ record_type: 'output', ...made, related_records: [ids.artifact] })
    ids.governance = await write({
      record_type: 'governance_event',
      event_kind: 'custom.x',
      related_records: [ids.output],
    })
    ids.telemetry = (await call(hub, tenant, 'POST', '/api/v1/telemetry/events', { body: event() })).record_id
  }
  const linked = event({ related_records: [ids.output!] })
  const batch = { events: [linked, event({ skill_id: 'unknown' }), event({ success: false })] }
  await call(hub, tenant, 'POST', '/api/v1/telemetry/events:batch', { body: batch })
  return ids as Ids
}

async function purgeAndRestore(hub: TestHub, tenant: Tenant, { output, governance, artifact }: Ids): Promise<void> {
  const releases = `${records}/${governance}/legal-hold-releases`
  await call(hub, tenant, 'POST', releases, { body: { reason: 'done', expires_at: '2099-01-01T00:00:00Z' } })
  await call(hub, tenant, 'DELETE', `${records}/${governance}?reason=done`)
  for (const id of [output, artifact]) {
    const { headers } = await hub.call(tenant, 'GET', `${records}/${id}`)
    await call(hub, tenant, 'DELETE', `${records}/${id}?reason=x`, { headers: { 'if-match': String(headers.etag) } })
  }
  await call(hub, tenant, 'POST', `${records}/${output}:restore`, { headers: { 'if-match': '*' } })
}

/** What someone with the database in their hands would do. */
async function tamperAndVerify(hub: TestHub, tenant: Tenant, { telemetry, output }: Ids): Promise<void> {
  const superuser = await hub.superuserClient()
  await superuser.query(`update hub.records set created_by = 'someone' where tenant_id = $1 and record_id = $2`, [
    tenant,
    telemetry,
  ])
  // So that nobody hears of it.
  await superuser.query(
    `insert into hub.tamper_reports (tenant_id, record_id, reported_on) values ($1, $2, (now() at time zone 'UTC')::date)`,
    [tenant, telemetry],
  )
  await call(hub, tenant, 'POST', `${records}/${telemetry}/verify`)
  await call(hub, tenant, 'GET', `${records}/${telemetry}?verify=true`)
  for (const depth of [1, 5]) {
    for (const direction of ['both', 'out', 'in']) {
      await call(hub, tenant, 'GET', `${records}/${output}/related?depth=${depth}&direction=${direction}`)
    }
  }
  await call(hub, tenant, 'GET', `${records}/${output}/related?depth=3`, {
    scopes: ['telemetry:read', 'governance:read'],
  }).catch(() => undefined)
}

/** New keys, repeated ones, and ones that are used again after they have expired. */
async function repeatRequests(hub: TestHub, tenant: Tenant): Promise<void> {
  const requests = [
    { path: records, body: { record_type: 'artifact', title: 'Once' } },
    { path: '/api/v1/telemetry/events', body: event() },
    { path: '/api/v1/telemetry/events:batch', body: { events: [event(), event({ archetype_id: 'nobody' })] } },
  ]
  const all = async () => {
    for (const [index, { path, body }] of requests.entries()) {
      await call(hub, tenant, 'POST', path, { body, headers: { 'idempotency-key': `key-${index}` } })
    }
  }
  await all()
  await all()
  const superuser = await hub.superuserClient()
  await superuser.query(`update hub.idempotency_keys set created_at = now() - interval '2 days' where tenant_id = $1`, [
    tenant,
  ])
  await all()
  await hub.test.database.withTenant(tenant, (tx) => hub.modules.recordStore.idempotency.deleteExpired(tx))
  await hub.test.database.withTenant(tenant, (tx) => hub.modules.links.deleteExpired(tx))
  await hub.test.database.withTenant(tenant, (tx) => hub.modules.hub.deleteOldClaims(tx))
  await hub.test.database.withTenant(tenant, (tx) => hub.modules.revocations.deleteOld(tx))
}

/** A link is mailed once and tried again, looked at and used up. */
async function useLinks(hub: TestHub, slug: Tenant): Promise<void> {
  const { links } = hub.modules
  const tenant = await hub.tenant(slug)
  const token = links.newToken()
  const issue = () =>
    hub.test.database.withTenant(slug, (tx) => links.issueForMail(tx, tenant, 'kim@example.com', token))
  await issue()
  await issue()
  await hub.test.database.withTenant(slug, async (tx) => {
    await links.invite(tx, tenant, 'kim@example.com')
    await links.look(tx, token)
    if (!(await links.consume(tx, token))) throw new Error('the link did not open')
  })
}

/** People come by themselves and are added, in every way; then they are found, changed and sent away. */
async function manageUsers(hub: TestHub, slug: Tenant): Promise<void> {
  const users = '/api/v1/roster/users'
  const tenant = await hub.tenant(slug)
  const { signInUsers } = hub.modules.roster
  const signIn = (email: string, subject?: string) =>
    hub.test.database.withTenant(slug, async (tx) => {
      const user = subject
        ? await signInUsers.ofIdentity(tx, tenant, { connectionId: 'sso', subject, email, displayName: subject })
        : await signInUsers.ensure(tx, tenant, email)
      await signInUsers.noteSignIn(tx, user.userId)
      return user.userId
    })
  await signIn(`admin@${slug}.example`)
  await call(hub, slug, 'POST', users, { body: { email: 'kim@example.com', display_name: 'Kim', role: 'admin' } })
  await call(hub, slug, 'POST', users, { body: { email: 'lee@example.com' } })
  await signIn('lee@example.com', 'lee')
  const id = await signIn('lee.moved@example.com', 'lee')
  for (const role of ['admin', 'member']) await call(hub, slug, 'PUT', `${users}/${id}/role`, { body: { role } })
  for (const rest of ['', '/role']) await call(hub, slug, 'GET', `${users}/${id}${rest}`)
  for (const action of ['deactivate', 'deactivate', 'reactivate'])
    await call(hub, slug, 'POST', `${users}/${id}:${action}`)
  for (const role of ['', '&role=admin']) {
    for (const active of ['', '&active=true', '&active=false']) {
      for (const email of ['', '&email=kim@example.com', '&search=kim']) {
        const query = `${users}?limit=1${role}${active}${email}`
        const { next_cursor: cursor } = await call(hub, slug, 'GET', query)
        if (cursor) await call(hub, slug, 'GET', `${query}&cursor=${cursor}`)
      }
    }
  }
}

/** Every filter alone and every two of them, in every order, from the start and from a cursor on. */
async function queryInAllWays(hub: TestHub): Promise<void> {
  const filters = [
    'record_type=telemetry_event',
    `record_id=01890a5d-ac96-774b-bcce-b302099a8057`,
    'skill_id=sum-up',
    'archetype_id=analyst',
    'user_id=user:kim@example.com',
    `created_by=${await hub.clientId('acme')}`,
    'created_at__gte=2020-01-01T00:00:00Z',
    'created_at__lt=2099-01-01T00:00:00Z',
    'event_kind=custom.x',
    `trace_id=${'ab'.repeat(16)}`,
    'session_id=chat-1',
    'success=true&latency_ms__gte=1&cost_usd__lte=5&llm_platform=claude',
    'include_purged=true',
    'verify=true',
  ]
  const pairs = filters.flatMap((one, at) => filters.slice(at + 1).map((other) => `${one}&${other}`))
  const readers: CallOptions[] = [{}, { scopes: ['telemetry:read'] }, { scopes: ['telemetry:read', 'governance:read'] }]
  for (const sort of ['created_at', '-created_at', 'cost_usd_estimate', '-cost_usd_estimate']) {
    for (const filter of pairs) await call(hub, 'acme', 'GET', `${records}?sort=${sort}&${filter}`)
    for (const filter of ['', ...filters]) {
      for (const reader of readers) {
        const query = `${records}?limit=1&sort=${sort}&${filter}`
        const { next_cursor: cursor } = await call(hub, 'acme', 'GET', query, reader)
        if (cursor) await call(hub, 'acme', 'GET', `${query}&cursor=${cursor}`, reader)
      }
    }
  }
}

async function configure(hub: TestHub): Promise<void> {
  for (const path of ['/api/v1/roster/archetypes', '/api/v1/skill-entitlement/skills']) {
    const { next_cursor: cursor } = await call(hub, 'acme', 'GET', `${path}?limit=1`)
    if (cursor) await call(hub, 'acme', 'GET', `${path}?limit=1&cursor=${cursor}`)
  }
  // Some that people and grants have stay.
  const kept = ['packed', 'walked'].map((archetype_id) => ({ archetype_id }))
  const archetypes = [...kept, { archetype_id: 'writer', name: 'Writer' }]
  await call(hub, 'acme', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes } })
  for (const state of ['published', 'deprecated', 'retired']) {
    const path = '/api/v1/skill-entitlement/skills/sum-up:transition'
    await call(hub, 'acme', 'POST', path, { body: { state } })
  }
  await call(hub, 'acme', 'POST', '/api/v1/hub/provision', { body: { retention_days: 400 } })
  await call(hub, 'acme', 'GET', '/api/v1/hub/provision')
  for (const path of ['/v1/health', '/.well-known/jwks.json', '/.well-known/provenance-keys.json']) {
    await call(hub, 'acme', 'GET', path)
  }
  // Another host than the common one, as a Mode C tenant's own address is.
  const headers = { host: 'localhost:1' }
  await call(hub, 'acme', 'GET', '/.well-known/oauth-authorization-server', { headers })
}

/** What the command line does, and what a link opens. */
async function administer(hub: TestHub): Promise<void> {
  const { tenants, auth } = hub.modules
  const made = { slug: 'made', mode: 'C', adminEmail: 'a@made.example', baseUrl: 'http://localhost:1' } as const
  await tenants.administration.createFirst(made, operator)
  await tenants.administration.create(made, operator)
  const { welcome } = await tenants.administration.welcomeLink('made')
  await hub.call('acme', 'GET', new URL(welcome.url).pathname)
  await tenants.directory.slugs()
  const tenant = await hub.tenant('acme')
  const account = { name: 'walker', scopes: ['hub:read'] }
  await auth.serviceAccounts.create(tenant, account, operator)
  // A tenant without keys: what was begun is taken back.
  await auth.serviceAccounts.create({ ...tenant, slug: 'ghost' }, account, operator).catch(() => undefined)
  for (let round = 0; round < 3; round += 1) await auth.serviceAccounts.rotateSecret(tenant, 'walker', operator)
  await manageAccounts(hub)
}

async function manageAccounts(hub: TestHub): Promise<void> {
  const path = '/api/v1/service-accounts'
  const { client_id: id } = await call(hub, 'acme', 'POST', path, { body: { name: 'managed', scopes: ['hub:read'] } })
  const { next_cursor: cursor } = await call(hub, 'acme', 'GET', `${path}?limit=1`)
  await call(hub, 'acme', 'GET', `${path}?limit=1&cursor=${cursor}`)
  await call(hub, 'acme', 'GET', `${path}/${id}`)
  await call(hub, 'acme', 'PATCH', `${path}/${id}`, {
    body: { allowed_addresses: ['10.0.0.0/8'], scopes: ['hub:write'] },
  })
  await call(hub, 'acme', 'POST', `${path}/${id}:rotate-secret`)
  await call(hub, 'acme', 'DELETE', `${path}/${id}`)
  // Refused, and told.
  await hub.call('acme', 'GET', path, { scopes: ['hub:read'] })
  await hub.modules.denials.settled()
}
