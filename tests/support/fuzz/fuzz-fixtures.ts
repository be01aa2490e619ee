import { setTimeout as delay } from 'node:timers/promises'
import { recordTypes } from '../../../contract/literals.ts'
import { insertExport } from '../../../server/modules/exports/exports-store.ts'
import { notify } from '../../api/notification-cases.ts'
import { prepareTelemetry, registerSkill } from '../../api/telemetry-tenants.ts'
import { addPlatform, addProvider } from '../../inbound/inbound-lab.ts'
import { openDirectoryLab, person } from '../../roster/directory-lab.ts'
import { waitingSync } from '../../roster-sync/waiting-sync.ts'
import { event } from '../../telemetry/events.ts'
import { addWebhook, keepDeliveries } from '../../webhooks/stored-deliveries.ts'
import type { TestHub } from '../hub.ts'
import { scaled } from '../machine-speed.ts'
import { type DescribedOperation, describedOperations } from './api-description.ts'
import type { GeneratedRequest } from './generate.ts'
import type { Random } from './random.ts'
import type { NamedValues } from './sample.ts'
import { signerOf } from './sign.ts'

/** What the requests are about: a running Hub with data in it, and ways in. */
export interface FuzzFixtures {
  baseUrl: string
  operations: DescribedOperation[]
  tokens: { acme: string; cmode: string; globex: string; narrow: readonly string[] }
  /** Names that an operation may be asked about. */
  namedFor(operationId: string): NamedValues
  /** With the signature of an inbound message, which is of the bytes that are sent. */
  signed(request: GeneratedRequest): GeneratedRequest
  /** Brings back what a request took away and another operation needs. */
  restore(operationId: string): Promise<void>
}

const movers = Array.from({ length: 40 }, (_, index) => `mover-${index}`)

/** Fills acme and the Mode C tenant with a little of everything. */
export async function prepareFixtures(hub: TestHub): Promise<FuzzFixtures> {
  await prepareTelemetry(hub, 'acme', 'cmode')
  for (const skill of movers) await registerSkill(hub, 'acme', skill)
  const records = await writeRecords(hub)
  const tenant = await hub.tenant('acme')
  const account = await hub.modules.auth.serviceAccounts.create(
    tenant,
    { name: 'fuzz', scopes: ['hub:read', 'telemetry:write'] },
    { operator: 'test' },
  )
  const spare = async (path: string, body: (index: number) => object, id: string): Promise<string[]> => {
    const answers = await Promise.all(movers.map((_, index) => hub.call('acme', 'POST', path, { body: body(index) })))
    return answers.map((answer) => answer.body[id])
  }
  const accountOf = (index: number) => ({ name: `spare-${index}`, scopes: ['hub:read'] })
  const accounts = await spare('/api/v1/service-accounts', accountOf, 'client_id')
  const userOf = (index: number) => ({ email: `spare-${index}@acme.example` })
  const users = await spare('/api/v1/roster/users', userOf, 'user_id')
  const directory = openDirectoryLab(hub)
  const { userId: memberId } = await directory.add(person('fuzzed'))
  const groups = [await directory.addGroup('Fuzzed', [memberId]), await directory.addGroup('Empty')]
  const connectorOf = (index: number) => ({ platform: 'slack', display_name: `Spare ${index}`, delivery: 'pull' })
  const connectors = await spare('/api/v1/llm/connectors', connectorOf, 'connector_id')
  const webhookOf = (index: number) => ({ url: `https://hooks.acme.example/${index}`, events: ['user.*'] })
  const webhooks = await spare('/api/v1/webhooks', webhookOf, 'webhook_id')
  const viewOf = (index: number) => ({ page: 'records', name: `Spare ${index}`, query: '', shared: true })
  const views = await spare('/api/v1/views', viewOf, 'view_id')
  const budgetOf = (index: number) => ({ name: `Spare ${index}`, period: 'day', amount_usd: 1 })
  const budgets = await spare('/api/v1/budgets', budgetOf, 'budget_id')
  await configureScim(hub)
  const delivering = await prepareDeliveries(hub)
  const [republish] = await spare('/api/v1/skill-entitlement/distribution:republish', () => ({}), 'job_id')
  const governance = await prepareGovernance(hub)
  const notification = await notify(hub, 'webhook.disabled', 'webhook:fuzz')
  // Many, for each can be confirmed or cancelled once.
  const syncs = await Promise.all(movers.map(() => waitingSync(hub, 'acme')))
  const page = await hub.call('acme', 'GET', '/api/v1/hub/records?limit=2')
  const skills = await hub.call('acme', 'GET', '/api/v1/skill-entitlement/skills?limit=2')
  const cursors = [page.body.next_cursor, skills.body.next_cursor]
  const senders = [await addProvider(hub, 'cmode'), await addPlatform(hub), await addPlatform(hub, 'cmode')]
  const document = await (await fetch(`${hub.baseUrl}/v1/openapi.json`)).json()

  const names: Record<string, (random: Random) => unknown> = {
    record_id: (random) => random.pick(records),
    related_records: (random) => random.pick(records),
    skill_id: (random) => (random.chance(0.9) ? 'sum-up' : 'never-registered'),
    archetype_id: (random) => (random.chance(0.9) ? 'analyst' : 'nobody'),
    skill_version: (random) => `${random.int(1, 9)}.${random.int(0, 999)}.${random.int(0, 999)}`,
    ts: () => event().ts,
    success: (random) => (random.chance(0.8) ? true : undefined),
    tokens_in: (random) => (random.chance(0.8) ? 1250 : undefined),
    tokens_out: (random) => (random.chance(0.8) ? 310 : undefined),
    tokens_total_reported: (random) => (random.chance(0.8) ? 1560 : undefined),
    cursor: (random) => random.pick(cursors),
    expires_at: () => '2099-01-01T00:00:00Z',
    client_id: () => account.client_id,
    user_id: (random) => random.pick(users),
    group_id: (random) => random.pick(groups).groupId,
    email: (random) => `fuzz-${random.int(1, 2 ** 31)}@acme.example`,
    client_secret: () => account.client_secret,
    redirect_uris: () => 'http://127.0.0.1:4567/callback',
    scope: (random) => random.pick(['hub:read', 'telemetry:write hub:read']),
    'Idempotency-Key': (random) => (random.chance(0.8) ? `key-${random.int(1, 2 ** 31)}` : 'the-same-key'),
    'If-Match': (random) => random.pick(['*', '"stale"', `W/"${random.pick(records)}-0"`]),
    'X-Service-Tenant': () => undefined,
    cowork_id: (random) => `pack-${random.int(1, 5)}`,
    archetype_ids: () => 'analyst',
    skill_ids: () => 'sum-up',
    sync_id: (random) => random.pick(syncs),
    hold_id: (random) => random.pick(governance.holds),
    record_ids: (random) => random.pick(governance.records),
    job_id: () => governance.download.jobId,
    connector_id: (random) => random.pick(connectors),
    connection_id: (random) => random.pick(senders).connectionId,
    webhook_id: (random) => random.pick(webhooks),
    view_id: (random) => random.pick(views),
    budget_id: (random) => random.pick(budgets),
    time_zone: (random) => random.pick(['UTC', 'Europe/Berlin', 'Asia/Kathmandu']),
    delivery_id: (random) => random.pick(delivering.deliveries),
    file_name: () => governance.download.file,
    tenant: () => 'acme',
    expires: () => governance.download.expires,
    signature: () => governance.download.signature,
    after: (random) => random.pick([0, 1, 65, records[0]]),
  }
  return {
    baseUrl: hub.baseUrl,
    signed: signerOf(senders),
    restore: async (operationId) => {
      if (operationId === 'removeScim') await configureScim(hub)
    },
    operations: describedOperations(document as Parameters<typeof describedOperations>[0]),
    tokens: {
      acme: await hub.token('acme'),
      cmode: await hub.token('cmode'),
      globex: await hub.token('globex'),
      narrow: [
        await hub.token('acme', ['telemetry:read']),
        await hub.token('acme', ['governance:read']),
        await hub.token('acme', ['roster:read', 'hub:write']),
        await hub.token('acme', ['connector:admin']),
      ],
    },
    namedFor: (operationId) => (name, random) => {
      // Skills that move to `retired` are not those that telemetry is sent for.
      if (operationId === 'transitionSkill' && name === 'skill_id') return random.pick(movers)
      if (operationId === 'replaceCowork' && name === 'skill_id') return `packed-${random.int(1, 20)}`
      if (operationId === 'getDeletionCertificate' && name === 'record_id') return random.pick(governance.erased)
      // Elsewhere these are times.
      if (operationId === 'getLogConsistency' && name === 'from') return random.int(1, 5)
      if (operationId === 'getLogConsistency' && name === 'to') return random.int(5, 20)
      if (operationId === 'releaseHold' && name === 'hold_id') return random.pick(governance.spareHolds)
      if (operationId === 'markNotificationsRead' && name === 'record_id') return notification
      if (operationId === 'getRepublish' && name === 'job_id') return republish
      if (operationId === 'cancelExport' && name === 'job_id') return random.pick(governance.spareExports)
      if (/(create|update)Webhook$/.test(operationId)) {
        if (name === 'url') return `https://hooks.acme.example/${random.int(1, 99)}`
        if (name === 'events') return random.pick(['user.*', 'skill.latency_exceeded', 'governance.*'])
      }
      if (/eView$/.test(operationId) && name === 'name') return `View ${random.int(1, 2 ** 31)}`
      // An endpoint that nobody disables or removes.
      if (/eliver/.test(operationId) && name === 'webhook_id') return delivering.webhook
      if (operationId === 'issueServiceToken' && name === 'grant_type') return 'client_credentials'
      // Accounts that are changed and disabled are not the one that asks for tokens.
      if (/ServiceAccount/.test(operationId) && name === 'client_id') return random.pick(accounts)
      // In records and telemetry it is `user:…`.
      if (name === 'user_id' && !/User(Role|Archetypes|Sessions|Session)?$/.test(operationId)) return undefined
      if (operationId === 'replaceArchetypes' && name === 'archetype_id') {
        return random.chance(0.3) ? 'analyst' : `archetype-${random.int(1, 50)}`
      }
      return Object.hasOwn(names, name) ? names[name]?.(random) : undefined
    },
  }
}

async function configureScim(hub: TestHub): Promise<void> {
  const answer = await hub.call('acme', 'POST', '/api/v1/identity/scim/configure', { body: { mode: 'push' } })
  if (answer.status !== 200) throw new Error(answer.text)
}

/** An endpoint with deliveries that nobody works on. */
async function prepareDeliveries(hub: TestHub): Promise<{ webhook: string; deliveries: string[] }> {
  const webhook = await addWebhook(hub, 'acme', { url: 'https://hooks.acme.example/deliveries' })
  const statuses = ['pending', 'failed', 'dead', 'delivered'] as const
  return {
    webhook,
    deliveries: await keepDeliveries(
      hub,
      'acme',
      webhook,
      statuses.map((status) => ({ status })),
    ),
  }
}

async function writeRecords(hub: TestHub): Promise<string[]> {
  const ids: string[] = []
  const write = async (body: object) => {
    const answer = await hub.call('acme', 'POST', '/api/v1/hub/records', { body })
    if (answer.status !== 201) throw new Error(answer.text)
    ids.push(answer.body.record_id)
  }
  for (let round = 0; round < 10; round += 1) {
    await write({ record_type: 'artifact', title: `Artifact ${round}` })
    await write({
      record_type: 'output',
      skill_id: 'sum-up',
      cost_usd_estimate: round / 8,
      related_records: [ids.at(-1)],
    })
    await write({ record_type: 'governance_event', event_kind: 'custom.fuzz', related_records: ids.slice(-2) })
    const answer = await hub.call('acme', 'POST', '/api/v1/telemetry/events', { body: event() })
    if (answer.status !== 201) throw new Error(answer.text)
    ids.push(answer.body.record_id)
  }
  return ids
}

interface Governed {
  /** In force, in acme. */
  holds: string[]
  /** To be released, in the other tenant, as are the records. */
  spareHolds: string[]
  records: string[]
  /** Of acme, as are the exports. */
  erased: string[]
  /** That wait: nothing works for them. */
  spareExports: string[]
  download: { jobId: string; file: string; expires: string; signature: string }
}

/** Holds, an export, and what is left of erased records. */
async function prepareGovernance(hub: TestHub): Promise<Governed> {
  const post = async (tenant: 'acme' | 'cmode', path: string, body: object) => {
    const answer = await hub.call(tenant, 'POST', path, { body })
    if (answer.status >= 300) throw new Error(answer.text)
    return answer.body
  }
  const written = async (tenant: 'acme' | 'cmode', count: number, record: object) => {
    const ids: string[] = []
    for (let at = 0; at < count; at++) ids.push((await post(tenant, '/api/v1/hub/records', record)).record_id)
    return ids
  }
  const hold = { name: 'Case 17', reason: 'Litigation' }
  const place = async (tenant: 'acme' | 'cmode', record_ids: string[]): Promise<string> =>
    (await post(tenant, '/api/v1/hub/legal-holds', { ...hold, record_ids })).hold_id

  const [held, ...erased] = await written('acme', 5, { record_type: 'artifact', title: 'Held, or erased' })
  const records = await written('cmode', 4, { record_type: 'governance_event', event_kind: 'custom.held' })
  for (const id of erased) await hub.call('acme', 'DELETE', `/api/v1/hub/records/${id}?reason=old`)
  await hub.modules.hub.erasure.run(await hub.tenant('acme'), { asOf: '2999-01-01T00:00:00.000000Z' })
  const holds = [await place('acme', [held!]), await place('acme', [held!])]
  const spareHolds = await Promise.all(movers.map(() => place('cmode', records)))
  const address = await exportAddress(hub, (await post('acme', '/api/v1/hub/records:export', {})).job_id)
  return { holds, spareHolds, records, erased, spareExports: await spareExports(hub), download: address }
}

async function exportAddress(hub: TestHub, jobId: string): Promise<Governed['download']> {
  for (const endsAtMs = performance.now() + scaled(30_000); performance.now() < endsAtMs; await delay(50)) {
    const { body } = await hub.call('acme', 'GET', `/api/v1/hub/exports/${jobId}`)
    if (body.status !== 'completed') continue
    const { pathname, searchParams } = new URL(body.download_url)
    const part = (name: string) => searchParams.get(name)!
    return { jobId, file: pathname.split('/').at(-1)!, expires: part('expires'), signature: part('signature') }
  }
  throw new Error('the export does not end')
}

/** Orders that no worker knows of. One that was cancelled can be cancelled again, so these are few: so many may be open. */
async function spareExports(hub: TestHub): Promise<string[]> {
  const ids = Array.from({ length: 5 }, (_, at) => `exp_${String(at).padStart(24, 'Spare')}`)
  const order = { format: 'jsonl', compression: null, filter: {}, recordTypes, verify: false } as const
  const createdAt = new Date().toISOString()
  const asked = { ...order, includeProvenance: false, createdBy: 'fuzz', createdAt }
  await hub.test.database.withTenant('acme', async (tx) => {
    for (const jobId of ids) await insertExport(tx, { jobId, ...asked }, createdAt)
  })
  return ids
}
