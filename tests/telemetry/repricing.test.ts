import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { EventBus } from '../../server/event-bus.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { createGovernanceLog } from '../../server/modules/governance/governance-log.ts'
import {
  createRepricingRuns,
  repricingJob,
  repricingJobData,
} from '../../server/modules/telemetry/prices/repricing-service.ts'
import type { RepricingRequest } from '../../server/modules/telemetry/prices/repricing-types.ts'
import { createTenantPrices } from '../../server/modules/telemetry/prices/tenant-prices.ts'
import { query } from '../api/record-cases.ts'
import { send } from '../api/summary-cases.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { startHub, type TestHub } from '../support/hub.ts'

/** Three parts of a thousand events, of which each costs 1,200 tokens × the price of the model. */
const eventsStored = 2500
const model = 'in-house'
const range = { from: '2026-01-05T00:00:00.000000Z', to: '2026-01-06T00:00:00.000000Z' }

let hub: TestHub
let tenant: Tenant
/** Dollars per million tokens: each test has another price than the one before. */
let price = 1

beforeAll(async () => {
  hub = await startHub({ poolSize: 12 })
  tenant = await hub.tenant('acme')
  await prepareTelemetry(hub, 'acme')
  for (let left = eventsStored; left > 0; left -= 500) {
    const events = Array.from({ length: 500 }, (_, at) => ({ llm_model: model, latency_ms: 1 + at }))
    await send(hub, 'acme', events)
  }
})
afterAll(() => hub.stop())

async function raisePrice(): Promise<void> {
  price += 1
  const each = { llm_model: model, input_usd_per_mtok: price, output_usd_per_mtok: price }
  const body = { prices: [{ ...each, effective_from: '2026-01-01T00:00:00Z' }] }
  expect((await hub.call('acme', 'PUT', '/api/v1/telemetry/prices', { body })).status).toBe(200)
}

beforeEach(raisePrice)

const costAt = (usdPerMtok: number, events = eventsStored) => (events * 1200 * usdPerMtok) / 1e6

const orderOf = (): RepricingRequest => ({
  ...{ runId: randomUUIDv7(), range, actor: { operator: 'test' } },
  cause: { command: `test at ${price}` },
})

interface Process {
  rated?: () => void
  nowMs?: () => number
  beforeEvent?: () => void
  errors?: string[]
}

/** Runs as another process of the service would do them. */
function openProcess({ rated = () => {}, nowMs, beforeEvent, errors = [] }: Process = {}) {
  const { database } = hub.test
  const { records } = hub.modules.recordStore
  const log = createGovernanceLog({ ...records, events: new EventBus() })
  return createRepricingRuns({
    ...{
      database,
      rated,
      prices: createTenantPrices({
        database,
        proof: hub.modules.telemetry.priceProof,
        unproven: () => expect.unreachable(),
      }),
    },
    governance: {
      ...log,
      append: (...event) => {
        beforeEvent?.()
        return log.append(...event)
      },
    },
    settleMs: 0,
    send: async () => expect.unreachable(),
    log: { error: (_, message) => void errors.push(message) },
    ...(nowMs ? { nowMs } : {}),
  })
}

/** Details of the governance events since the price was set. */
async function reports(): Promise<Record<string, unknown>[]> {
  const { records } = await query(hub, 'acme', '?record_type=governance_event&event_kind=telemetry.rerated&limit=1000')
  return records
    .map(({ details }: { details: Record<string, unknown> }) => details)
    .filter(({ command }: Record<string, unknown>) => command === `test at ${price}`)
}

async function expectTotals(cost: number, invocations = eventsStored): Promise<void> {
  const { body } = await hub.call('acme', 'GET', '/api/v1/telemetry/summary?from=2026-01-05T00:00:00Z&group_by=user')
  expect(body.totals).toMatchObject({ invocations, cost_usd_computed: cost, tokens_in: 1000 * invocations })
  expect(body.totals.unpriced).toBe(0)
}

async function rateAll(): Promise<void> {
  await openProcess().run(tenant, orderOf())
  await expectTotals(costAt(price))
}

test('a run is done in parts, and repeating it does nothing', async () => {
  let commits = 0
  const runs = openProcess({
    rated: () => {
      commits += 1
    },
  })
  const order = orderOf()
  const result = {
    ...{ checked: eventsStored, changed: eventsStored },
    ...{ cost_usd_computed_before: 0, cost_usd_computed_after: costAt(price) },
  }
  expect(await runs.run(tenant, order)).toEqual(result)
  expect(commits).toBe(3)
  expect(await reports()).toEqual([{ ...result, ...range, command: `test at ${price}`, actor: 'operator:test' }])
  expect(await runs.run(tenant, order)).toEqual(result)
  expect([commits, (await reports()).length]).toEqual([3, 1])
  expect(await runs.run(tenant, orderOf())).toMatchObject({ changed: 0, cost_usd_computed_before: costAt(price) })
  expect(commits).toBe(3)
  await expectTotals(costAt(price))
})

test('one that is stopped after a part goes on there, and reports the whole of it', async () => {
  const order = orderOf()
  const stop = new AbortController()
  const stopped = openProcess({ rated: () => stop.abort() })
  await expect(stopped.run(tenant, order, stop.signal)).rejects.toThrow('aborted')
  await expectTotals(costAt(price, 1000) + costAt(price - 1, 1500))
  expect(await reports()).toEqual([])

  const result = await openProcess().run(tenant, order)
  expect(result).toEqual({
    ...{ checked: eventsStored, changed: eventsStored },
    ...{ cost_usd_computed_before: costAt(price - 1), cost_usd_computed_after: costAt(price) },
  })
  expect(await reports()).toMatchObject([result])
  await expectTotals(costAt(price))
})

test('one that goes on after the prices have changed does not bring the old ones back', async () => {
  const order = orderOf()
  const stop = new AbortController()
  await expect(openProcess({ rated: () => stop.abort() }).run(tenant, order, stop.signal)).rejects.toThrow('aborted')
  await raisePrice()
  await rateAll()
  expect(await openProcess().run(tenant, order)).toMatchObject({ checked: eventsStored, changed: 1000 })
  await expectTotals(costAt(price))
})

test('a part that fails at its end leaves nothing behind', async () => {
  const order = orderOf()
  const failing = openProcess({
    beforeEvent: () => {
      throw new Error('the disk is full')
    },
  })
  await expect(failing.run(tenant, order)).rejects.toThrow('the disk is full')
  await expectTotals(costAt(price, 2000) + costAt(price - 1, 500))
  await openProcess().run(tenant, order)
  expect(await reports()).toHaveLength(1)
  await expectTotals(costAt(price))
})

test('several at once, the same one too, change each event once', async () => {
  const shared = orderOf()
  const [first, again, other] = await Promise.all([
    openProcess().run(tenant, shared),
    openProcess().run(tenant, shared),
    openProcess().run(tenant, orderOf()),
  ])
  expect(again).toEqual(first)
  expect(first.changed + other.changed).toBe(eventsStored)
  expect([first.checked, other.checked]).toEqual([eventsStored, eventsStored])
  expect(await reports()).toHaveLength(2)
  await expectTotals(costAt(price))
})

test('while rollups are folded and rebuilt, the numbers are exact', async () => {
  const { rollups } = hub.modules.rollups
  let done = false
  const keepRebuilding = async () => {
    while (!done) {
      await rollups.rebuild('acme')
      await rollups.settle('acme')
    }
  }
  const rebuilding = keepRebuilding()
  for (let round = 0; round < 3; round += 1) await openProcess().run(tenant, orderOf())
  done = true
  await rebuilding
  await expectTotals(costAt(price))
  await rollups.settle('acme')
  await expectTotals(costAt(price))
})

test('a price that is gone leaves the event unpriced, and the same price again changes nothing', async () => {
  await rateAll()
  await hub.call('acme', 'PUT', '/api/v1/telemetry/prices', { body: { prices: [] } })
  expect(await openProcess().run(tenant, orderOf())).toEqual({
    ...{ checked: eventsStored, changed: eventsStored },
    ...{ cost_usd_computed_before: costAt(price), cost_usd_computed_after: 0 },
  })
  const { body } = await hub.call('acme', 'GET', '/api/v1/telemetry/summary?from=2026-01-05T00:00:00Z')
  expect(body.totals).toMatchObject({ unpriced: eventsStored, cost_usd_computed: 0, invocations: eventsStored })
  expect(await openProcess().run(tenant, orderOf())).toMatchObject({ changed: 0 })
})

test('events that come in after it has begun are not its business', async () => {
  await rateAll()
  const before = Date.now() - 3_600_000
  expect(await openProcess({ nowMs: () => before }).run(tenant, orderOf())).toMatchObject({ checked: 0 })
})

test('records that cannot be read keep their price, and are named in the log and counted in the event', async () => {
  await rateAll()
  const superuser = await hub.superuserClient()
  const some = `tenant_id = 'acme' and record_id in (select record_id from hub.records
    where tenant_id = 'acme' and record_type = 'telemetry_event' order by record_id limit 2)`
  const { rows } = await superuser.query(`select record_id, canonical from hub.records where ${some}`)
  await superuser.query(`update hub.records set canonical = '{"tokens_in":' where ${some}`)
  const errors: string[] = []
  const result = await openProcess({ errors }).run(tenant, orderOf())
  expect(result).toMatchObject({ checked: eventsStored - 2, changed: 0 })
  expect(errors).toHaveLength(2)
  expect((await reports()).at(-1)).toMatchObject({ ...result, unreadable: 2 })
  for (const { record_id, canonical } of rows) {
    await superuser.query('update hub.records set canonical = $1 where record_id = $2', [canonical, record_id])
  }
})

async function forgedTables(): Promise<string[]> {
  const { records } = await query(hub, 'acme', '?event_kind=hub.tamper_detected')
  return records.map(({ details }: { details: { found: { table: string } } }) => details.found.table)
}

test('a run whose progress was edited in the database ends without an event', async () => {
  const order = orderOf()
  const { run } = openProcess()
  await run(tenant, order)
  const before = await reports()
  const superuser = await hub.superuserClient()
  const edits = [
    `finished_at = null, cost_before_micros = 999999`,
    `finished_at = null, position = until_id, cost_before_micros = 0`,
    `finished_at = null, proof = null`,
  ]
  for (const edit of edits) {
    await superuser.query(`update hub.rating_runs set ${edit} where run_id = $1`, [order.runId])
    await expect(run(tenant, order)).rejects.toThrow('was changed in the database')
  }
  expect(await reports()).toEqual(before)
  await expect.poll(forgedTables).toContain('hub.rating_runs')
})

test('the job does what the Hub queued, and nothing for another request or a tenant that is gone', async () => {
  const warnings: string[] = []
  const { database } = hub.test
  const job = repricingJob({
    database,
    runs: openProcess(),
    findTenant: async (slug) => (slug === 'acme' ? tenant : undefined),
    log: { warn: (_, message) => void warnings.push(message) },
  })
  const { signal } = new AbortController()
  const queued = await database.withTenant('acme', async (tx) => repricingJobData(tx, orderOf()))
  const stored = JSON.parse(JSON.stringify(queued))
  const forgedRequests = [
    { ...stored, order: { ...stored.order, actor: { operator: 'somebody else' } } },
    { ...stored, order: { ...stored.order, runId: randomUUIDv7() } },
    { ...stored, proof: undefined },
  ]
  for (const data of forgedRequests) await job.handler({ data, signal })
  expect(await reports()).toEqual([])
  await expect.poll(forgedTables).toContain('hub_jobs.job')
  await job.handler({ data: stored, signal })
  await expectTotals(costAt(price))
  expect(await reports()).toHaveLength(1)
  await job.handler({ data: { ...stored, tenant: 'gone' }, signal })
  expect(warnings).toHaveLength(1)
})
