import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import {
  decision,
  expectGuarded,
  expectProblem,
  governanceEvent,
  pathOf,
  query,
  recordsPath,
  skillDefinition,
  unknownId,
  write,
} from './record-cases.ts'

interface Found {
  record_id: string
  record_type: string
  created_at: string
  created_by: string
  title?: string
  cost_usd_estimate?: number
}

let hub: TestHub
/** Outputs that differ in what queries filter by; `title` names them. */
const ids: Record<string, string> = {}
let purged: string

beforeAll(async () => {
  hub = await startHub()
  for (const skill of ['s1', 's2']) await write(hub, 'acme', skillDefinition(skill))
  const output = async (title: string, fields: object) => {
    ids[title] = await write(hub, 'acme', { record_type: 'output', title, ...fields })
  }
  await output('o1', { skill_id: 's1', archetype_id: 'a1', user_id: 'user:u1', cost_usd_estimate: 0.5 })
  await output('o2', { skill_id: 's1', archetype_id: 'a2', user_id: 'user:u2', cost_usd_estimate: 0.25 })
  await output('o3', { skill_id: 's2', archetype_id: 'a1', user_id: 'user:u1' })
  await output('o4', { skill_id: 's2', cost_usd_estimate: 0.25 })
  await write(hub, 'acme', decision)
  await write(hub, 'acme', governanceEvent)
  purged = await write(hub, 'acme', decision)
  await hub.call('acme', 'DELETE', pathOf(purged, '?reason=x'))
  await write(hub, 'globex', { ...decision, decision_subject: 'secret' })
})
afterAll(() => hub.stop())

const get = (parameters: string, options = {}) => hub.call('acme', 'GET', `${recordsPath}${parameters}`, options)
const find = async (parameters: string, options = {}): Promise<Found[]> =>
  (await query(hub, 'acme', parameters, options)).records
const titles = async (parameters: string) => (await find(parameters)).map((record) => record.title)

describe('filters', () => {
  test.each([
    ['?skill_id=s1', ['o1', 'o2']],
    ['?skill_id=s2&archetype_id=a1', ['o3']],
    ['?archetype_id=a1', ['o1', 'o3']],
    ['?user_id=user:u1', ['o1', 'o3']],
    ['?user_id=user%3Au2', ['o2']],
    ['?record_type=output', ['o1', 'o2', 'o3', 'o4']],
    ['?record_type=decision&skill_id=s1', []],
    ['?skill_id=nothing', []],
    [`?record_type=output&created_by=nobody`, []],
    ['?record_type=output&sort=-created_at', ['o4', 'o3', 'o2', 'o1']],
    ['?sort=cost_usd_estimate', ['o2', 'o4', 'o1']],
    ['?sort=-cost_usd_estimate', ['o1', 'o4', 'o2']],
    ['?sort=cost_usd_estimate&skill_id=s1', ['o2', 'o1']],
  ])('%s', async (parameters, expected) => {
    expect(await titles(parameters)).toEqual(expected)
  })

  test('by id, creator and kind', async () => {
    expect(await titles(`?record_id=${ids.o3?.toUpperCase()}`)).toEqual(['o3'])
    expect(await find(`?record_id=${unknownId}`)).toEqual([])
    const creator = await hub.clientId('acme')
    expect((await find(`?created_by=${creator}`)).every((record) => record.created_by === creator)).toBe(true)
    expect(await find('?event_kind=custom.reviewed')).toMatchObject([{ record_type: 'governance_event' }])
    expect(await find('?event_kind=hub.record_purged&created_by=service:hub')).toHaveLength(1)
  })

  test('bounds of time: from inclusive, to exclusive, in any offset, to the microsecond', async () => {
    const all = await find('?record_type=output')
    const [second, third] = [all[1]!.created_at, all[2]!.created_at]
    expect(await titles(`?record_type=output&created_at__gte=${second}`)).toEqual(['o2', 'o3', 'o4'])
    expect(await titles(`?record_type=output&created_at__lt=${third}`)).toEqual(['o1', 'o2'])
    expect(await titles(`?record_type=output&created_at__gte=${second}&created_at__lt=${third}`)).toEqual(['o2'])
    const local = new Date(Date.parse(second) + 7_200_000).toISOString().slice(0, 19)
    const inOffset = encodeURIComponent(`${local}${second.slice(19, 26)}+02:00`)
    expect(await titles(`?record_type=output&created_at__gte=${inOffset}`)).toEqual(['o2', 'o3', 'o4'])
    expect(await find('?created_at__lt=1969-01-01T00:00:00Z')).toEqual([])
    expect(await find('?created_at__gte=9999-12-31T23:59:59.999999Z')).toEqual([])
    expect(await find(`?created_at__gte=${third}&created_at__lt=${second}`)).toEqual([])
  })

  test('purged records only when asked for', async () => {
    expect((await find('?limit=1000')).map((record) => record.record_id)).not.toContain(purged)
    const withPurged = await find('?limit=1000&include_purged=true')
    expect(withPurged).toContainEqual(expect.objectContaining({ record_id: purged, is_purged: true }))
  })

  test('nothing of another tenant', async () => {
    const { text } = await get('?limit=1000&include_purged=true&verify=true')
    expect(text).not.toMatch(/secret|globex/)
  })
})

test('verify adds a verification to each record, and a summary', async () => {
  const plain = await query(hub, 'acme', '?limit=1000')
  const verified = await query(hub, 'acme', '?limit=1000&verify=true')
  expect(plain).not.toHaveProperty('verification_summary')
  const count = plain.records.length
  expect(verified.verification_summary).toEqual({ checked: count, verified: count, tampered: 0, cosign_invalid: 0 })
  for (const [i, record] of verified.records.entries()) {
    expect(record).toEqual({ ...plain.records[i], verification: expect.objectContaining({ verified: true }) })
  }
})

describe('pages', () => {
  async function pageThrough(parameters: string, options = {}): Promise<string[]> {
    const met: string[] = []
    let next = ''
    do {
      const { records, next_cursor } = await query(hub, 'acme', `${parameters}${next}`, options)
      expect(records.length).toBeLessThanOrEqual(2)
      for (const record of records) met.push(record.record_id)
      next = next_cursor === null ? '' : `&cursor=${next_cursor}`
    } while (next !== '')
    return met
  }

  test.each(['created_at', '-created_at', 'cost_usd_estimate', '-cost_usd_estimate'])('by %s', async (sort) => {
    for (const filter of ['', '&include_purged=true', '&record_type=output', '&verify=true']) {
      const whole = (await find(`?sort=${sort}${filter}&limit=1000`)).map((record) => record.record_id)
      expect(await pageThrough(`?sort=${sort}${filter}&limit=2`)).toEqual(whole)
    }
  })

  test('50 unless asked for; the last page, full or not, has no cursor', async () => {
    const tenant = await hub.tenant('acme')
    const { sealer, writer } = hub.modules.recordStore.records
    const draft = { recordType: 'artifact' as const, createdBy: 'bulk', fields: { title: 'x' } }
    const batch = await sealer.seal(tenant, Array(60).fill(draft))
    await hub.test.database.withTenant('acme', (tx) => writer.insert(tx, batch))
    const first = await query(hub, 'acme', '?created_by=bulk')
    expect(first.records).toHaveLength(50)
    const rest = await query(hub, 'acme', `?created_by=bulk&cursor=${first.next_cursor}`)
    expect([rest.records.length, rest.next_cursor]).toEqual([10, null])
    expect((await query(hub, 'acme', '?created_by=bulk&limit=60')).next_cursor).toBeNull()
    const resized = await query(hub, 'acme', `?created_by=bulk&limit=3&cursor=${first.next_cursor}`)
    expect(resized.records).toEqual(rest.records.slice(0, 3))
  })

  test('a cursor is of one tenant and one query', async () => {
    const { next_cursor: cursor } = await query(hub, 'acme', '?record_type=output&limit=1')
    for (const parameters of [
      `?record_type=decision&limit=1&cursor=${cursor}`,
      `?limit=1&cursor=${cursor}`,
      `?record_type=output&sort=-created_at&limit=1&cursor=${cursor}`,
      `?record_type=output&include_purged=true&limit=1&cursor=${cursor}`,
      `?record_type=output&limit=1&cursor=${cursor}A`,
      `?record_type=output&limit=1&cursor=${cursor.slice(0, -2)}`,
      `?record_type=output&limit=1&cursor=${cursor.replace(/^./, (c: string) => (c === 'A' ? 'B' : 'A'))}`,
      '?record_type=output&limit=1&cursor=x',
      `?record_type=output&limit=1&cursor=${'x'.repeat(5000)}`,
    ]) {
      expectProblem(await get(parameters), 'invalid-cursor')
    }
    const elsewhere = await hub.call('globex', 'GET', `${recordsPath}?record_type=output&limit=1&cursor=${cursor}`)
    expectProblem(elsewhere, 'invalid-cursor')
    expect((await get(`?record_type=output&sort=created_at&verify=false&limit=1&cursor=${cursor}`)).status).toBe(200)
  })
})

test('readers of some types see only those', async () => {
  const typesOf = async (scopes: string[], parameters = '?limit=1000') => [
    ...new Set((await find(parameters, { scopes })).map((record) => record.record_type)),
  ]
  expect(await typesOf(['governance:read'])).toEqual(['governance_event'])
  expect(await typesOf(['telemetry:read'])).toEqual([])
  expect(await typesOf(['telemetry:read', 'governance:read'])).toEqual(['governance_event'])
  expect(await typesOf(['governance:read', 'hub:read'])).toHaveLength(5)
  expect(await typesOf(['governance:read'], '?record_type=output')).toEqual([])
  expect(await typesOf(['telemetry:read'], `?record_id=${ids.o1}`)).toEqual([])
  const { body } = await get('?record_type=output&verify=true', { scopes: ['governance:read'] })
  expect(body).toEqual({
    records: [],
    next_cursor: null,
    verification_summary: { checked: 0, verified: 0, tampered: 0, cosign_invalid: 0 },
  })
})

test.each([
  ['?record_type=note', '/query/record_type'],
  ['?record_id=x', '/query/record_id'],
  ['?skill_id=', '/query/skill_id'],
  [`?trace_id=${'AB'.repeat(16)}`, '/query/trace_id'],
  ['?session_id=', '/query/session_id'],
  ['?created_at__gte=yesterday', '/query/created_at__gte'],
  ['?created_at__lt=2026-02-30T00:00:00Z', '/query/created_at__lt'],
  ['?created_at__gte=2026-01-01T00:00:00+01:00', '/query/created_at__gte'],
  ['?created_at__gt=2026-01-01T00:00:00Z', '/query/created_at__gt'],
  ['?limit=0', '/query/limit'],
  ['?limit=1001', '/query/limit'],
  ['?limit=1.5', '/query/limit'],
  ['?limit=ten', '/query/limit'],
  ['?sort=title', '/query/sort'],
  ['?verify=1', '/query/verify'],
  ['?include_purged=maybe', '/query/include_purged'],
  ['?limit=1&limit=2', '/query/limit'],
  ['?tenant_id=globex', '/query/tenant_id'],
  ['?user_id=a%00b', '/query/user_id'],
  ['?cursor=', '/query/cursor'],
])('%s is refused', async (parameters, pointer) => {
  expectProblem(await get(parameters), 'validation-failed', pointer)
})

test('not without token, tenant or scope', () =>
  expectGuarded(hub, 'GET', recordsPath, { lacking: ['hub:write', 'hub:purge', 'telemetry:write'] }))

test('lets a tenant read two large pages at a time, and others beside it', async () => {
  const db = await hub.superuserClient()
  const read = (tenant: 'acme' | 'globex', limit: number) => hub.call(tenant, 'GET', `${recordsPath}?limit=${limit}`)
  const reading = async () => {
    await db.query('select pg_stat_clear_snapshot()')
    const { rows } = await db.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like '%hub.records r%'`,
    )
    return rows[0]!.count
  }
  // Nothing else looks for these tables meanwhile but what is to wait.
  await read('globex', 1)
  await db.query('begin; lock table hub.records in access exclusive mode')
  const pages = [...Array.from({ length: 5 }, () => read('acme', 1000)), ...[read('globex', 201), read('acme', 200)]]
  await expect.poll(reading).toBe(4)
  await hub.call('acme', 'GET', '/v1/health', { token: null })
  expect(await reading()).toBe(4)
  await db.query('commit')
  expect((await Promise.all(pages)).map(({ status }) => status)).toEqual(pages.map(() => 200))
})
