import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type OperationId, operations } from '../../contract/operations.ts'
import { problems } from '../../contract/problems.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { openDirectoryLab, person } from '../roster/directory-lab.ts'
import { type Answer, type CallOptions, startHub, type TestHub } from '../support/hub.ts'
import { patience } from '../support/machine-speed.ts'
import { event } from '../telemetry/events.ts'
import { type Attempt, isolationCases, type Loot, unknownId } from './isolation-cases.ts'

/** Stands in every text that acme keeps, and must never reach globex. Ids do not have it: globex sends those itself. */
const marker = 'OnlyAcmeMayReadThis'
const records = '/api/v1/hub/records'

const tokenOperations = (Object.keys(operations) as OperationId[]).filter(
  (id) => operations[id].access.kind === 'token',
)
const attemptsOf = (id: OperationId) => isolationCases[id]?.(loot) ?? []

let hub: TestHub
let loot: Loot
let before: string

beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme', 'globex')
  loot = await fillAcme()
  before = await allOfAcme()
})
afterAll(() => hub.stop())

async function acme(method: string, path: string, body?: unknown) {
  const answer = await hub.call('acme', method, path, { body })
  if (answer.status >= 300) throw new Error(answer.text)
  return answer.body
}

async function fillAcme(): Promise<Loot> {
  const skill = { skill_id: 'secret-skill', skill_version: '1.0.0', name: marker, description: marker, owner: marker }
  await acme('POST', records, { record_type: 'skill_definition', ...skill, manifest: { [marker]: marker } })
  const archetypes = ['analyst', 'secret-archetype'].map((archetype_id) => ({ archetype_id, name: marker }))
  await acme('PUT', '/api/v1/roster/archetypes', { archetypes })
  const packed = { ...skill, skill_id: 'packed-skill', manifest: { [marker]: marker } }
  const pack = { name: marker, skills: [packed], archetype_ids: ['secret-archetype'] }
  await acme('PUT', '/api/v1/skill-entitlement/coworks/secret-pack', pack)
  await acme('POST', '/api/v1/skill-entitlement/coworks/secret-pack/apply')
  await acme('PUT', '/api/v1/skill-entitlement/archetypes/analyst/grants', { skill_ids: ['secret-skill'] })
  const price = { llm_model: marker, input_usd_per_mtok: 1, output_usd_per_mtok: 1 }
  const prices = [{ ...price, effective_from: '2026-01-01T00:00:00Z' }]
  await acme('PUT', '/api/v1/telemetry/prices', { prices })
  const { record_id: record } = await acme('POST', records, {
    record_type: 'output',
    ...{ skill_id: 'secret-skill', archetype_id: 'secret-archetype', user_id: `user:${marker}`, llm_model: marker },
    ...{ title: marker, content: { text: marker }, content_type: marker, cost_usd_estimate: 1 },
  })
  const related_records = [record]
  await acme('POST', records, { record_type: 'artifact', title: marker, uri: marker, content: marker, related_records })
  const decision = ['id', 'subject', 'outcome', 'rationale', 'actor_role'].map((name) => [`decision_${name}`, marker])
  await acme('POST', records, { record_type: 'decision', ...Object.fromEntries(decision), related_records })
  const { record_id: governance } = await acme('POST', records, {
    ...{ record_type: 'governance_event', event_kind: `custom.${marker}`, subject: marker, details: { marker } },
  })
  const spoken = event({
    user_id: `user:${marker}`,
    llm_model: marker,
    metadata: { marker },
    success: false,
    error_code: marker,
  })
  await acme('POST', '/api/v1/telemetry/events:batch', { events: [spoken, spoken] })
  await acme('POST', '/api/v1/service-accounts', { name: marker, scopes: ['hub:read'] })
  const { user_id: userId } = await acme('POST', '/api/v1/roster/users', {
    ...{ email: `${marker}@acme.example`, display_name: marker, role: 'auditor' },
  })
  await acme('POST', '/api/v1/roster/users', { email: 'taken@acme.example' })
  const directory = openDirectoryLab(hub)
  const { userId: memberId } = await directory.add(person(marker, { attributes: { displayName: marker } }))
  const { groupId } = await directory.addGroup(marker, [memberId])
  const matter = { name: marker, reason: marker, filter: { user_id: `user:${marker}` } }
  const { hold_id: hold } = await acme('POST', '/api/v1/hub/legal-holds', matter)
  const rules = [{ record_type: 'telemetry_event', min_days: 7 }]
  await acme('PUT', '/api/v1/hub/retention-rules', { rules, four_eyes: true })
  const { job_id: exportId } = await acme('POST', `${records}:export`, { filter: { user_id: `user:${marker}` } })
  await vi.waitFor(
    async () => expect((await acme('GET', `/api/v1/hub/exports/${exportId}`)).status).toBe('completed'),
    patience,
  )
  const { connector_id: connector } = await acme('POST', '/api/v1/llm/connectors', {
    ...{ platform: 'custom:secret', display_name: marker, delivery: 'pull', credentials: { api_key: marker } },
  })
  const { webhook_id: webhook } = await acme('POST', '/api/v1/webhooks', {
    ...{ url: `https://hooks.acme.example/${marker}`, events: ['user.*'], description: marker },
  })
  const { delivery_id: delivery } = await acme('POST', `/api/v1/webhooks/${webhook}:test`)
  const { view_id: view } = await acme('POST', '/api/v1/views', {
    ...{ page: 'records', name: marker, query: `user_id=user:${marker}`, shared: true },
  })
  const { budget_id: budget } = await acme('POST', '/api/v1/budgets', {
    ...{ name: marker, period: 'day', amount_usd: 1, filter: { user_id: `user:${marker}` } },
    notify: { emails: [`${marker}@acme.example`], webhook_ids: [webhook] },
  })
  const { job_id: republish } = await acme('POST', '/api/v1/skill-entitlement/distribution:republish')
  const mapping = [{ group: marker, archetype_id: 'analyst' }]
  await acme('POST', '/api/v1/identity/scim/configure', { mode: 'push', group_archetype_map: mapping })
  const { sync_id: sync } = await acme('POST', '/api/v1/roster/scim:sync')
  await vi.waitFor(
    async () => expect((await acme('GET', '/api/v1/roster/scim:sync')).status).toBe('completed'),
    patience,
  )
  return {
    connector,
    webhook,
    delivery,
    view,
    budget,
    republish,
    sync,
    record,
    governance,
    clientId: await hub.clientId('acme'),
    userId,
    groupId,
    hold,
    export: exportId,
  }
}

/** Every row that acme has, in any table, but for its own record of refusals: those of its tokens belong there. */
async function allOfAcme(): Promise<string> {
  await hub.modules.denials.settled()
  const superuser = await hub.superuserClient()
  const { rows: tables } = await superuser.query(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
     where c.relnamespace = 'hub'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  )
  const dump: string[] = []
  for (const { name } of tables) {
    // Using a token is noted with its account: the one thing that reading may change.
    const { rows } = await superuser.query(
      `select to_jsonb(t) - 'last_used_at' as row from hub.${name} t where tenant_id = 'acme' ${withoutRefusals[name] ?? ''}
       order by 1`,
    )
    dump.push(name, ...rows.map(({ row }) => JSON.stringify(row)))
  }
  return dump.join('\n')
}

const refusals = `select seal_id from hub.records where tenant_id = 'acme' and event_kind = 'auth.access_refused'`
const withoutRefusals: Record<string, string> = {
  records: `and seal_id not in (${refusals})`,
  seals: `and seal_id not in (${refusals})`,
}

async function as(options: { token: 'acme' | 'globex'; header: string }, id: OperationId, made: Attempt) {
  const call: CallOptions = {
    token: await hub.token(options.token),
    headers: { ...made.headers, 'x-service-tenant': options.header },
    ...(made.body !== undefined && { body: made.body }),
  }
  return hub.call('globex', operations[id].method, made.path, call)
}

/** Without what differs between any two answers. */
function comparable(answer: Answer, ...own: string[]): unknown {
  let text = answer.text
  for (const each of [answer.body.instance, ...own]) text = text.replaceAll(each, '*')
  const {
    'content-length': _length,
    'x-service-request-id': _id,
    ratelimit: _limit,
    date: _date,
    ...headers
  } = answer.headers
  return { status: answer.status, headers, text }
}

const slugOf = (answer: Answer) => String(answer.body.type).split('/').at(-1)

test('the marker is in what acme reads, of every kind', async () => {
  expect(Object.keys(isolationCases).sort()).toEqual([...tokenOperations].sort())
  for (const path of [
    records,
    '/api/v1/roster/users',
    '/api/v1/service-accounts',
    '/api/v1/roster/groups',
    '/api/v1/roster/archetypes',
    '/api/v1/skill-entitlement/skills',
    '/api/v1/skill-entitlement/coworks',
    '/api/v1/views',
  ]) {
    expect(JSON.stringify(await acme('GET', `${path}?limit=1000`))).toContain(marker)
  }
  expect(JSON.stringify(await acme('GET', '/api/v1/telemetry/prices'))).toContain(marker)
  const { records: all } = await acme('GET', `${records}?limit=1000`)
  const marked = all.filter((record: object) => JSON.stringify(record).includes(marker))
  const types = new Set(marked.map((record: { record_type: string }) => record.record_type))
  expect([...types].sort()).toEqual([
    'artifact',
    'decision',
    'governance_event',
    'output',
    'skill_definition',
    'telemetry_event',
  ])
})

describe.each(tokenOperations)('%s', (id) => {
  test('with acme’s header and globex’s token is refused as for a tenant that nobody has', async () => {
    expect(attemptsOf(id)).not.toEqual([])
    for (const made of attemptsOf(id)) {
      const foreign = await as({ token: 'globex', header: 'acme' }, id, made)
      const unknown = await as({ token: 'globex', header: 'nobody-has-this' }, id, made)
      expect([foreign.status, slugOf(foreign), foreign.body.tenant_slug]).toEqual([403, 'invalid-tenant', 'acme'])
      expect(comparable(foreign, '"acme"')).toEqual(comparable(unknown, '"nobody-has-this"'))
    }
  })

  test('with globex’s header and acme’s token is refused', async () => {
    for (const made of attemptsOf(id)) {
      const answer = await as({ token: 'acme', header: 'globex' }, id, made)
      expect([answer.status, slugOf(answer)]).toEqual([403, 'invalid-tenant'])
    }
  })

  test('by globex with acme’s ids shows and changes nothing of acme', async () => {
    for (const made of attemptsOf(id)) {
      const answer = await as({ token: 'globex', header: 'globex' }, id, made)
      expect(answer.status, answer.text).toBe(made.status)
      expect(answer.text).not.toContain(marker)
      expect(JSON.stringify(answer.headers)).not.toContain(marker)
      expect(answer.text).not.toMatch(/"tenant_id":"acme"/)
      if (answer.status < 300) expect(answer.text).not.toContain(loot.record)
      if (made.withUnknown) {
        const unknown = await as({ token: 'globex', header: 'globex' }, id, { ...made, ...made.withUnknown })
        const own = [loot.record, loot.governance, loot.hold, 'secret-skill', 'secret-pack', 'secret-archetype']
        const nobodys = [unknownId, 'no-such-skill', 'no-such-pack', 'no-such-archetype']
        expect(comparable(answer, ...own)).toEqual(comparable(unknown, ...nobodys))
      }
    }
  })
})

describe('a filter by what only acme has', () => {
  test.each([
    () => `record_id=${loot.record}`,
    () => `created_by=${loot.clientId}`,
    () => `skill_id=secret-skill`,
    () => `user_id=user:${marker}`,
    () => `event_kind=custom.${marker}`,
  ])('finds nothing for globex: %s', async (query) => {
    const found = async (tenant: 'acme' | 'globex') =>
      (await hub.call(tenant, 'GET', `${records}?${query()}`)).body.records.length
    expect(await found('acme')).toBeGreaterThan(0)
    expect(await found('globex')).toBe(0)
  })
})

describe('a cursor of acme', () => {
  test.each([
    [`${records}?limit=1`],
    [`${records}?limit=1&sort=-cost_usd_estimate`],
    ['/api/v1/roster/archetypes?limit=1'],
    ['/api/v1/skill-entitlement/skills?limit=1'],
    ['/api/v1/skill-entitlement/grants?limit=1'],
    ['/api/v1/telemetry/reconciliation/exceptions?limit=1'],
    ['/api/v1/service-accounts?limit=1'],
  ])('does not open for globex: %s', async (path) => {
    if (path.includes('cost')) {
      const again = { record_type: 'output', skill_id: 'secret-skill', cost_usd_estimate: 2 }
      await acme('POST', records, again)
      before = await allOfAcme()
    }
    const { next_cursor: cursor } = await acme('GET', path)
    expect(cursor).toEqual(expect.any(String))
    const own = await hub.call('acme', 'GET', `${path}&cursor=${cursor}`)
    expect(own.status).toBe(200)
    const foreign = await hub.call('globex', 'GET', `${path}&cursor=${cursor}`)
    expect([foreign.status, slugOf(foreign), foreign.body.title]).toEqual([
      400,
      'invalid-cursor',
      problems['invalid-cursor'].title,
    ])
  })
})

test('after all of this acme has what it had', async () => {
  expect(before).toContain(marker)
  expect(await allOfAcme()).toBe(before)
})

describe('an idempotency key', () => {
  test.each([
    [records, { record_type: 'artifact', title: 'a' }, { record_type: 'artifact', title: 'b' }],
    ['/api/v1/telemetry/events', event(), event({ latency_ms: 5 })],
    ['/api/v1/telemetry/events:batch', { events: [event()] }, { events: [event({ latency_ms: 5 })] }],
  ])('of one tenant is free for another, for the same payload and for another: %s', async (path, body, other) => {
    await hub.call('globex', 'PUT', '/api/v1/roster/archetypes', {
      body: { archetypes: [{ archetype_id: 'analyst' }] },
    })
    const send = (tenant: 'acme' | 'globex', key: string, payload: object) =>
      hub.call(tenant, 'POST', path, { body: payload, headers: { 'idempotency-key': `${key}:${path}` } })
    const idOf = ({ body: answer }: Answer): string => answer.record_id ?? answer.records[0].record_id
    const first = await send('acme', 'shared', body)
    const same = await send('globex', 'shared', body)
    expect([first.status, same.status]).toEqual([201, 201])
    expect(same.headers['idempotent-replayed']).toBeUndefined()
    expect(idOf(same)).not.toBe(idOf(first))
    await send('acme', 'differs', body)
    expect((await send('globex', 'differs', other)).status).toBe(201)
    const repeated = await send('acme', 'shared', body)
    expect(repeated.headers['idempotent-replayed']).toBe('true')
    expect(idOf(repeated)).toBe(idOf(first))
    expect((await send('acme', 'shared', other)).status).toBe(409)
  })
})
