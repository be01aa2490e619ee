import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pathOf } from '../api/record-cases.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { adjustmentsFinding, auditFigures, copyFigures, eventsOf, ingestInto, model } from './rollup-audit-lab.ts'

/** Somebody who has the database, but not the master key, changes the figures of the command center. */

const time = fakeClock()
let hub: TestHub
let db: pg.Client

beforeAll(async () => {
  hub = await startHub({ time, poolSize: 12 })
  db = await hub.superuserClient()
  await prepareTelemetry(hub, 'acme', 'globex')
})
afterAll(() => hub.stop())

const ingest = (tenant: TestTenant, events: object[]) => ingestInto(hub, tenant, events)
const audit = (tenant: TestTenant, between?: (step: number) => Promise<unknown>) => auditFigures(hub, tenant, between)
const settle = (tenant: TestTenant) => hub.modules.rollups.rollups.settle(tenant)

test('finds nothing in deltas, folded and closed days, costs that were rated again, and erased events', async () => {
  expect(await audit('acme')).toEqual([])
  await ingest('acme', eventsOf('user:ada'))
  expect(await audit('acme')).toEqual([])
  await settle('acme')
  const ids = await ingest('acme', eventsOf('user:eve'))
  expect(await audit('acme')).toEqual([])
  const prices = [
    { llm_model: model, input_usd_per_mtok: 9, output_usd_per_mtok: 9, effective_from: '2026-01-01T00:00:00Z' },
  ]
  expect((await hub.call('acme', 'PUT', '/api/v1/telemetry/prices', { body: { prices } })).status).toBe(200)
  const acme = await hub.tenant('acme')
  const by = { actor: { operator: 'test' }, cause: {} }
  await hub.modules.telemetry.rating.rate(acme, { from: '2026-01-05T00:00:00Z', to: '2026-01-06T12:00:00Z' }, by)
  expect(await audit('acme')).toEqual([])
  for (const id of ids) await hub.call('acme', 'DELETE', pathOf(id, '?reason=x'))
  time.step({ days: 31 })
  // The erasure runs when the records were read already: they were counted, and are among the erased ones, too.
  const findings = await audit('acme', async (step) => {
    if (step === 0) expect(await hub.modules.hub.erasure.run(acme)).toEqual({ erased: ids.length, held: 0 })
  })
  expect(findings).toEqual([])
  await settle('acme')
  expect(await audit('acme')).toEqual([])
})

test('accepts failures of an earlier version, which are not divided by error code', async () => {
  await ingest('acme', eventsOf('user:bob'))
  await settle('acme')
  await db.query(`update hub.telemetry_rollups set error_code = null where tenant_id = 'acme' and grain <> 'erased'`)
  expect(await audit('acme')).toEqual([])
  const january = 'from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z'
  for (const operation of ['summary', 'reconciliation']) {
    const path = `/api/v1/telemetry/${operation}?${january}`
    expect((await hub.call('acme', 'GET', path)).status).toBe(200)
    for (const divided of ['group_by=error_code', 'success=true', 'error_code=timeout']) {
      const answer = await hub.call('acme', 'GET', `${path}&${divided}`)
      expect(answer.status, answer.text).toBe(400)
      expect(answer.body.errors).toMatchObject([{ pointer: '/query/from', detail: expect.stringContaining('rebuild') }])
    }
    const later = `/api/v1/telemetry/${operation}?from=2026-01-10T00:00:00Z&group_by=error_code&to=2026-02-01T00:00:00Z`
    expect((await hub.call('acme', 'GET', later)).body.rows).toEqual([])
  }
  await hub.modules.rollups.rollups.rebuild('acme')
  const divided = await hub.call('acme', 'GET', `/api/v1/telemetry/summary?${january}&group_by=error_code`)
  const all = await hub.call('acme', 'GET', `/api/v1/telemetry/summary?${january}`)
  expect(divided.body.rows.map(({ key }: { key: string }) => key)).toEqual(['timeout'])
  expect(divided.body.totals.failures).toBe(all.body.totals.failures)
  expect(await audit('acme')).toEqual([])
})

test('raises no alarm while events come in and are folded', async () => {
  let isOver = false
  const writing = (async () => {
    while (!isOver) {
      await ingest('globex', eventsOf('user:kim', 9))
      await settle('globex')
    }
  })()
  try {
    for (let round = 0; round < 12; round += 1) expect(await audit('globex')).toEqual([])
  } finally {
    isOver = true
    await writing
  }
})

const rollups = (changes: string, where: string) =>
  `update hub.telemetry_rollups set ${changes} where tenant_id = 'acme' and ${where}`
const monday = `first_quarter between 96 * ((date '2026-01-05') - date '1970-01-01') and 96 * ((date '2026-01-05') - date '1970-01-01') + 95`
const day = 'figures:2026-01-05'

test.each<[name: string, sql: string, subject: string, checks: string[]]>([
  [
    'more invocations everywhere',
    rollups('invocations = 2 * invocations', monday),
    ...([day, ['figures_match_records']] as [string, string[]]),
  ],
  ['a cost in every view and grain', rollups('cost_computed_micros = 0', monday), day, ['figures_match_records']],
  [
    'a view',
    rollups('failures = 0', `${monday} and view = 'skill' and grain = 'quarter'`),
    day,
    ['figures_views_agree'],
  ],
  [
    'a day',
    rollups('tokens_in = tokens_in + 1', `${monday} and grain = 'day' and view = 'user'`),
    day,
    ['figures_days_agree'],
  ],
  [
    'whose they are',
    rollups(`user_id = 'user:mallory'`, `${monday} and user_id is not null`),
    day,
    ['figures_match_records'],
  ],
  ['the model', rollups(`llm_model = 'gpt-4o'`, `${monday} and llm_model is not null`), day, ['figures_match_records']],
  ['latencies', rollups(`latency = '\\x01c801'`, `${monday} and invocations = 1`), day, ['figures_match_records']],
  ['a sketch that is none', rollups(`latency = '\\xff'`, monday), day, ['figures_readable']],
  ['a cost that is no number', rollups(`cost_estimate_micros = 'NaN'`, monday), day, ['figures_readable']],
  [
    'the rows of a day',
    `delete from hub.telemetry_rollups where tenant_id = 'acme' and ${monday} and grain <> 'erased'`,
    day,
    ['figures_match_records'],
  ],
  [
    'what erased events added',
    `delete from hub.telemetry_rollups where tenant_id = 'acme' and ${monday} and grain = 'erased'`,
    day,
    ['figures_match_records'],
  ],
  [
    'another error code everywhere',
    rollups(`error_code = 'quota'`, `${monday} and error_code is not null`),
    ...([day, ['figures_match_records']] as [string, string[]]),
  ],
  [
    'the last rating of an event',
    `delete from hub.telemetry_ratings where tenant_id = 'acme' and record_id = (select min(record_id::text)::uuid from hub.telemetry_ratings where tenant_id = 'acme')`,
    'figures:2026-01-06',
    ['figures_match_records'],
  ],
  [
    'a row of a day without events',
    `insert into hub.telemetry_rollups select tenant_id, grain, view, first_quarter - 9600, cell, skill_id, archetype_id, user_id, llm_platform,
       llm_model, invocations, failures, tokens_in, tokens_out, cost_estimate_micros, cost_computed_micros, unpriced, latency
     from hub.telemetry_rollups where tenant_id = 'acme' and ${monday} and view = 'model' and grain = 'day'`,
    ...(['figures:2025-09-27', ['figures_days_agree']] as [string, string[]]),
  ],
])('finds %s', async (_name, sql, subject, checks) => {
  await settle('acme')
  await db.query('begin')
  await db.query('create table public.kept as select * from hub.telemetry_rollups')
  await db.query('create table public.kept_ratings as select * from hub.telemetry_ratings')
  const { rowCount } = await db.query(sql)
  await db.query('commit')
  expect(rowCount).toBeGreaterThan(0)
  try {
    const found = await audit('acme')
    expect(found.map((finding) => finding.subject)).toContain(subject)
    // The sums of ratings and erased events have a proof of their own.
    for (const finding of found) expect([subject, 'figures:adjustments']).toContain(finding.subject)
    expect(found.flatMap(({ failedChecks }) => failedChecks)).toEqual(expect.arrayContaining(checks))
  } finally {
    await db.query(`truncate hub.telemetry_rollups, hub.telemetry_ratings;
      insert into hub.telemetry_rollups select * from public.kept; insert into hub.telemetry_ratings select * from public.kept_ratings;
      drop table public.kept, public.kept_ratings`)
  }
  expect(await audit('acme')).toEqual([])
})

/** Figures that agree with everything that they are computed from, as somebody with the database can write them. */
const makeConsistent = (tenant: TestTenant) => hub.modules.rollups.rollups.rebuild(tenant)
const firstRating = `tenant_id = 'acme' and record_id = (select min(record_id::text)::uuid from hub.telemetry_ratings where tenant_id = 'acme')`
const firstErased = `tenant_id = 'acme' and grain = 'erased' and (first_quarter, cell) =
  (select first_quarter, cell from hub.telemetry_rollups where tenant_id = 'acme' and grain = 'erased' order by 1, 2 limit 1)`
const erasedColumns = `cell, skill_id, archetype_id, user_id, llm_platform, llm_model, invocations, failures, tokens_in,
  tokens_out, cost_estimate_micros, cost_computed_micros, unpriced, latency`

test.each<[name: string, sql: string, check: string]>([
  [
    'the cost of a rating',
    `update hub.telemetry_ratings set cost_computed_micros = 10^9 where ${firstRating}`,
    'ratings_proven',
  ],
  [
    'the source of a rating',
    `update hub.telemetry_ratings set price_source = 'x' where ${firstRating}`,
    'ratings_proven',
  ],
  ['a rating that is gone', `delete from hub.telemetry_ratings where ${firstRating}`, 'ratings_proven'],
  [
    'a rating of an event that was not rated again',
    `insert into hub.telemetry_ratings select tenant_id, record_id, 10^9, 'x', now() from hub.records r
     where tenant_id = 'acme' and record_type = 'telemetry_event' and not exists (
       select from hub.telemetry_ratings t where t.tenant_id = 'acme' and t.record_id = r.record_id) limit 1`,
    'ratings_proven',
  ],
  [
    'sums of erased events',
    `update hub.telemetry_rollups set cost_estimate_micros = 10^9 where ${firstErased}`,
    'erased_figures_proven',
  ],
  [
    'sums of erased events that are gone',
    `delete from hub.telemetry_rollups where ${firstErased}`,
    'erased_figures_proven',
  ],
  [
    'sums of erased events that never were',
    `insert into hub.telemetry_rollups (tenant_id, grain, view, first_quarter, ${erasedColumns})
     select tenant_id, grain, view, first_quarter - 9600, ${erasedColumns} from hub.telemetry_rollups where ${firstErased}`,
    'erased_figures_proven',
  ],
  [
    'the sums that prove these',
    `update hub.adjustment_proofs set ratings = '0' where tenant_id = 'acme'`,
    'adjustments_proven',
  ],
  [
    'everything beside the records removed',
    `delete from hub.adjustment_proofs where tenant_id = 'acme';
     delete from hub.telemetry_ratings where tenant_id = 'acme';
     delete from hub.telemetry_rollups where tenant_id = 'acme' and grain = 'erased'`,
    'adjustments_proven',
  ],
])('finds %s, though all figures agree with it', async (_name, sql, check) => {
  const setBack = await copyFigures(db, 'before')
  try {
    await db.query(sql)
    await makeConsistent('acme')
    expect(await audit('acme')).toEqual(adjustmentsFinding(check))
  } finally {
    await setBack()
    await db.query(
      'drop table public.before_telemetry_rollups, public.before_telemetry_ratings, public.before_adjustment_proofs',
    )
  }
  expect(await audit('acme')).toEqual([])
})

test('finds a delta that was deleted before it was folded, and the sweeper reports the day once', async () => {
  await ingest('acme', eventsOf('user:bob', 3))
  expect((await db.query(`delete from hub.telemetry_deltas where tenant_id = 'acme'`)).rowCount).toBe(1)
  const acme = await hub.tenant('acme')
  expect((await hub.modules.hub.sweeper.sweep(acme)).inconsistent).toBe(3)
  await hub.modules.hub.sweeper.sweep(acme)
  const { body } = await hub.call('acme', 'GET', '/api/v1/hub/records?event_kind=hub.tamper_detected&verify=true')
  const ofMonday = body.records.filter((record: { subject: string }) => record.subject === day)
  expect(ofMonday).toMatchObject([
    {
      verification: { verified: true },
      details: {
        actor: 'service:sweeper',
        failed_checks: ['figures_match_records'],
        found: { from_records: { invocations: 25 }, stored: { invocations: 24 } },
      },
    },
  ])
  expect(body.records).toHaveLength(3)
  await hub.modules.rollups.rollups.rebuild('acme')
  expect(await audit('acme')).toEqual([])
})
