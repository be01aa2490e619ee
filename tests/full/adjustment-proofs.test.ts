import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { proveExistingAdjustments } from '../../server/db/prove-rows.ts'
import { createRowProofs } from '../../server/db/row-proofs.ts'
import { decision, pathOf, write } from '../api/record-cases.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import {
  adjustmentsFinding,
  auditFigures,
  copyFigures,
  eventsOf,
  ingestInto,
  model,
} from '../telemetry/rollup-audit-lab.ts'

/** Somebody who has the database sets ratings and sums of erased events back, with the proof that they had then. */

const time = fakeClock()
const operator = { operator: 'test' }
let hub: TestHub
let db: pg.Client
let ids: string[]

beforeAll(async () => {
  hub = await startHub({ time, poolSize: 12 })
  db = await hub.superuserClient()
  await prepareTelemetry(hub, 'acme')
  ids = await ingestInto(hub, 'acme', eventsOf('user:lee', 20))
  await rate(3)
  await erase(ids.slice(0, 4))
})
afterAll(() => hub.stop())

async function rate(price: number): Promise<void> {
  const of = { llm_model: model, effective_from: '2026-01-01T00:00:00Z' }
  const prices = [{ ...of, input_usd_per_mtok: price, output_usd_per_mtok: price }]
  expect((await hub.call('acme', 'PUT', '/api/v1/telemetry/prices', { body: { prices } })).status).toBe(200)
  const range = { from: '2026-01-05T00:00:00Z' }
  const rated = await hub.modules.telemetry.rating.rate(await hub.tenant('acme'), range, { actor: operator, cause: {} })
  expect(rated.changed).toBeGreaterThan(0)
}

async function erase(some: readonly string[]): Promise<void> {
  for (const id of some) await hub.call('acme', 'DELETE', pathOf(id, '?reason=x'))
  time.step({ days: 31 })
  expect(await hub.modules.hub.erasure.run(await hub.tenant('acme'))).toEqual({ erased: some.length, held: 0 })
}

/** Writes figures that agree with everything they are computed from, as somebody with the database can. */
const makeConsistent = () => hub.modules.rollups.rollups.rebuild('acme')
const settle = () => hub.modules.rollups.rollups.settle('acme')
const audit = () => auditFigures(hub, 'acme')

test.each([
  ['the last rating', 'rated', () => rate(7)],
  ['an erasure of events', 'events', () => erase(ids.slice(4, 8))],
  ['an erasure of another record', 'other', async () => erase([await write(hub, 'acme', decision)])],
])('finds what was set back to before %s', async (_name, table, change) => {
  await settle()
  const setBack = await copyFigures(db, `then_${table}`)
  await change()
  expect(await audit()).toEqual([])
  await settle()
  const setForward = await copyFigures(db, `now_${table}`)
  await setBack()
  await makeConsistent()
  expect(await audit()).toEqual(adjustmentsFinding('adjustments_proven'))
  await setForward()
  expect(await audit()).toEqual([])
})

test('neither a rating nor an erasure proves what was forged before; an operator does, with an event', async () => {
  await settle()
  const setBack = await copyFigures(db, 'forged')
  expect((await db.query('delete from hub.telemetry_ratings where record_id = $1', [ids[9]])).rowCount).toBe(1)
  await rate(9)
  await erase([ids[9]!])
  await makeConsistent()
  expect(await audit()).toEqual(adjustmentsFinding('ratings_proven'))
  await setBack()
  await rate(11)
  await erase([ids[10]!])
  await makeConsistent()
  expect(await audit()).toEqual(adjustmentsFinding('adjustments_proven'))

  const accepted = await hub.modules.rollups.acceptAdjustments(await hub.tenant('acme'), operator)
  expect(await audit()).toEqual([])
  const { body } = await hub.call(
    'acme',
    'GET',
    '/api/v1/hub/records?event_kind=tenant.config_changed&sort=-created_at',
  )
  expect(body.records[0].details).toMatchObject({
    change: 'figures_accepted',
    ...{ ratings: accepted.ratings, erased_figures: accepted.erased, ratings_proven: false, actor: 'operator:test' },
  })
})

test('the migration proves what is stored, and what changes later is found', async () => {
  await db.query('delete from hub.adjustment_proofs')
  expect(await audit()).toEqual(adjustmentsFinding('adjustments_proven'))
  const counts = await proveExistingAdjustments(db, createRowProofs(hub.test.masterKey))
  expect(counts).toEqual({ 'hub.telemetry_ratings': expect.any(Number), 'hub.telemetry_rollups': expect.any(Number) })
  expect(await audit()).toEqual([])
  await rate(13)
  await erase([ids[11]!])
  await makeConsistent()
  expect(await audit()).toEqual([])
  await db.query('update hub.telemetry_ratings set cost_computed_micros = 1')
  await makeConsistent()
  expect(await audit()).toEqual(adjustmentsFinding('ratings_proven'))
})
