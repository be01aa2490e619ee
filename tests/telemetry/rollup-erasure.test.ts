import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { renamedDelta } from '../../server/modules/telemetry/rollups/rollup-delta.ts'
import { cellDigest } from '../../server/modules/telemetry/rollups/rollup-rows-store.ts'
import { pathOf } from '../api/record-cases.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { event } from './events.ts'
import { inSnapshot, type Rows, storedDays, storedQuarters } from './rollup-oracle.ts'

const time = fakeClock()
let hub: TestHub
let client: pg.Client

beforeAll(async () => {
  hub = await startHub({ time, poolSize: 12 })
  client = await hub.superuserClient()
  await prepareTelemetry(hub, 'acme', 'globex')
})
afterAll(() => hub.stop())

const users = ['user:ada', 'user:"bob"\\', 'user:eve']
const eventsOf = (user_id: string, count: number) =>
  Array.from({ length: count }, (_, at) =>
    event({
      user_id,
      ts: new Date(Date.UTC(2026, 0, 5 + (at % 3), at % 24)).toISOString(),
      latency_ms: 100 + at,
      llm_model: at % 4 === 0 ? undefined : 'claude-3-haiku-20240307',
      success: at % 5 !== 0,
      error_code: at % 5 === 0 ? 'timeout' : undefined,
    }),
  )

async function ingest(tenant: TestTenant, events: object[]): Promise<string[]> {
  const { body } = await hub.call(tenant, 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
  expect(body.failed, JSON.stringify(body.errors)).toBe(0)
  return body.records.map((record: { record_id: string }) => record.record_id)
}

async function erase(tenant: TestTenant, ids: readonly string[]): Promise<void> {
  for (const id of ids) await hub.call(tenant, 'DELETE', pathOf(id, '?reason=x'))
  time.step({ days: 31 })
  expect(await hub.modules.hub.erasure.run(await hub.tenant(tenant))).toEqual({ erased: ids.length, held: 0 })
}

const settle = (tenant: TestTenant) => hub.modules.rollups.rollups.settle(tenant)
const seen = (tenant: TestTenant) =>
  inSnapshot(client, async () => ({
    quarters: await storedQuarters(client, tenant),
    days: (await storedDays(client, tenant)).rows,
  }))
const renamed = (rows: Rows, from: string, to: string): Rows =>
  new Map([...rows].map(([place, sums]) => [place.replaceAll(JSON.stringify(from), JSON.stringify(to)), sums]))

async function namesOf(tenant: TestTenant): Promise<string[]> {
  const { rows } = await client.query<{ user_id: string }>(
    `select distinct user_id from hub.telemetry_rollups where tenant_id = $1 and user_id is not null`,
    [tenant],
  )
  return rows.map((row) => row.user_id).sort()
}

async function expectDigests(): Promise<void> {
  const { rows } = await client.query(
    'select cell, skill_id, archetype_id, user_id, llm_platform, llm_model, error_code from hub.telemetry_rollups',
  )
  for (const { cell, ...dimensions } of rows) expect(cell.equals(cellDigest(dimensions))).toBe(true)
}

test('sums stay when events go; once none of a user remains, nobody can tell whose they were', async () => {
  const ids: string[][] = []
  for (const user of users) ids.push(await ingest('acme', eventsOf(user, 30)))
  await settle('acme')
  // Some of each are rated again, and the last are not folded yet.
  const price = { llm_model: 'claude-3-haiku-20240307', input_usd_per_mtok: 9, output_usd_per_mtok: 9 }
  const prices = [{ ...price, effective_from: '2026-01-01T00:00:00Z' }]
  expect((await hub.call('acme', 'PUT', '/api/v1/telemetry/prices', { body: { prices } })).status).toBe(200)
  const acme = await hub.tenant('acme')
  const by = { actor: { operator: 'test' }, cause: {} }
  await hub.modules.telemetry.rating.rate(acme, { from: '2026-01-05T00:00:00Z', to: '2026-01-06T12:00:00Z' }, by)
  for (const [at, user] of users.entries()) ids[at]!.push(...(await ingest('acme', eventsOf(user, 7))))
  const before = await seen('acme')

  await erase('acme', [...ids[0]!, ...ids[1]!, ...ids[2]!.slice(0, 36)])
  const { rows: ratings } = await client.query('select record_id from hub.telemetry_ratings')
  expect(ratings.map((row) => row.record_id).filter((id) => id !== ids[2]![36])).toEqual([])
  await settle('acme')
  const [eve, ...others] = (await namesOf('acme')).sort((a, b) => Number(a.length > 20) - Number(b.length > 20))
  expect(eve).toBe('user:eve')
  expect(others).toHaveLength(2)
  for (const name of others) expect(name).toMatch(/^user:erased-[0-9a-f]{32}$/)
  await expectDigests()

  const after = await seen('acme')
  const asBefore = [others, others.toReversed()].map(([ada, bob]) => {
    const back = (rows: Rows) => renamed(renamed(rows, ada!, users[0]!), bob!, users[1]!)
    return { quarters: back(after.quarters), days: back(after.days) }
  })
  expect(asBefore).toContainEqual(before)

  await hub.modules.rollups.rollups.rebuild('acme')
  expect(await seen('acme')).toEqual(after)
  const summary = await hub.call(
    'acme',
    'GET',
    '/api/v1/telemetry/summary?from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z&group_by=user',
  )
  expect(summary.body.totals.invocations).toBe(111)
  expect(summary.body.rows.map((row: { key: string }) => row.key).sort()).toEqual([...others, eve].sort())
})

test('whoever comes back is a new one to the sums', async () => {
  await erase('globex', await ingest('globex', eventsOf('user:ada', 3)))
  const [first] = await hubNames()
  const again = await ingest('globex', eventsOf('user:ada', 3))
  expect(await hubNames()).toEqual([first, 'user:ada'].sort())
  await erase('globex', again)
  const names = await hubNames()
  expect(names).toHaveLength(2)
  expect(names).toContain(first)
  expect(names).not.toContain('user:ada')
  await hub.modules.rollups.rollups.rebuild('globex')
  expect(await namesOf('globex')).toEqual(names)
})

async function hubNames(): Promise<string[]> {
  await settle('globex')
  return namesOf('globex')
}

test('erasing, folding, rebuilding and ingesting at once lose nothing and bring nobody back', async () => {
  const ids = await ingest('globex', eventsOf('user:mallory', 40))
  for (const id of ids) await hub.call('globex', 'DELETE', pathOf(id, '?reason=x'))
  time.step({ days: 31 })
  const count = async () =>
    [...(await seen('globex')).quarters].reduce(
      (sum, [place, sums]) => sum + (place.startsWith('["no_user"') ? Number(sums.split(' ')[0]) : 0),
      0,
    )
  const before = await count()
  const globex = await hub.tenant('globex')
  const { erasure } = hub.modules.hub
  const [first, second] = await Promise.all([
    erasure.run(globex),
    erasure.run(globex),
    settle('globex'),
    hub.modules.rollups.rollups.rebuild('globex'),
    ...Array.from({ length: 5 }, () => ingest('globex', eventsOf('user:trent', 10))),
  ])
  expect((first as { erased: number }).erased + (second as { erased: number }).erased).toBe(40)
  await settle('globex')
  expect(await count()).toBe(before + 50)
  await hub.modules.rollups.rollups.rebuild('globex')
  expect(await count()).toBe(before + 50)
  expect(await namesOf('globex')).toContain('user:trent')
  expect(await namesOf('globex')).not.toContain('user:mallory')
  await expectDigests()
})

test('a delta of a version that is not known is renamed as text', () => {
  const text = JSON.stringify({ v: 99, names: ['user:ada', 'user:adam'] })
  const names = new Map([['user:ada', 'user:erased-1']])
  expect(JSON.parse(renamedDelta(text, names)).names).toEqual(['user:erased-1', 'user:adam'])
})
