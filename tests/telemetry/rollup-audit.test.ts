import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AuditFinding } from '../../server/modules/hub/sweep/sweep-types.ts'
import { pathOf } from '../api/record-cases.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { event } from './events.ts'

/** Somebody who has the database, but not the master key, changes the figures of the command center. */

const time = fakeClock()
const model = 'claude-3-haiku-20240307'
let hub: TestHub
let db: pg.Client

beforeAll(async () => {
  hub = await startHub({ time, poolSize: 12 })
  db = await hub.superuserClient()
  await prepareTelemetry(hub, 'acme', 'globex')
})
afterAll(() => hub.stop())

async function ingest(tenant: TestTenant, events: object[]): Promise<string[]> {
  const { body } = await hub.call(tenant, 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
  expect(body.failed, JSON.stringify(body.errors)).toBe(0)
  return body.records.map((record: { record_id: string }) => record.record_id)
}

const eventsOf = (user_id: string, count = 24) =>
  Array.from({ length: count }, (_, at) =>
    event({
      user_id,
      ts: new Date(Date.UTC(2026, 0, 5 + (at % 3), at % 24, at)).toISOString(),
      latency_ms: 100 + 31 * at,
      llm_model: at % 4 === 0 ? undefined : model,
      success: at % 5 !== 0,
      error_code: at % 5 === 0 ? 'timeout' : undefined,
    }),
  )

async function audit(tenant: TestTenant, between: (step: number) => Promise<unknown> = async () => {}) {
  const { step } = hub.modules.rollups.audit(await hub.tenant(tenant), 'all')
  const findings: AuditFinding[] = []
  for (let at = 0; ; at += 1) {
    const done = await step()
    findings.push(...done.findings)
    if (done.isOver) return findings
    await between(at)
  }
}

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
    for (const finding of found) expect(finding.subject).toBe(subject)
    expect(found.flatMap(({ failedChecks }) => failedChecks)).toEqual(expect.arrayContaining(checks))
  } finally {
    await db.query(`truncate hub.telemetry_rollups, hub.telemetry_ratings;
      insert into hub.telemetry_rollups select * from public.kept; insert into hub.telemetry_ratings select * from public.kept_ratings;
      drop table public.kept, public.kept_ratings`)
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
        found: { from_records: { invocations: 17 }, stored: { invocations: 16 } },
      },
    },
  ])
  expect(body.records).toHaveLength(3)
  await hub.modules.rollups.rollups.rebuild('acme')
  expect(await audit('acme')).toEqual([])
})
