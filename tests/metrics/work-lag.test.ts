import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { Metrics } from '../../server/metrics/metrics.ts'
import { WorkLag } from '../../server/modules/observability/work-lag.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { createTestDatabase } from '../support/database.ts'
import { startHub, type TestHub, testTenants } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
})
afterAll(() => hub.stop())

/** Measures again, without the cached result. */
function lagNow(log = { warn: vi.fn() }, listTenants = async (): Promise<string[]> => Object.keys(testTenants)) {
  const oldest = { folding: hub.modules.rollups.oldestDelta, log: hub.modules.log.oldestArrival }
  return new WorkLag({ database: hub.test.database, listTenants, oldest, log }).read()
}

test('the lag grows with what waits, and is 0 when nothing is left', async () => {
  const path = '/api/v1/telemetry/events'
  expect((await hub.call('acme', 'POST', path, { body: event() })).status).toBe(201)
  const first = await lagNow()
  expect(first.folding).toBeGreaterThanOrEqual(0)
  await expect.poll(async () => (await lagNow()).folding).toBeGreaterThan(first.folding!)
  // The seals of the three tenants wait since before the event.
  expect((await lagNow()).log).toBeGreaterThan(first.folding!)
  for (const slug of Object.keys(testTenants) as (keyof typeof testTenants)[]) {
    await hub.modules.rollups.rollups.settle(slug)
    await hub.modules.log.logs.integrate(await hub.tenant(slug))
  }
  expect(await lagNow()).toEqual({ folding: 0, log: 0 })
})

test('a result is cached, and one that cannot be read is left out', async () => {
  const listTenants = vi.fn(async () => ['acme'])
  const oldest = { folding: async () => undefined }
  const lag = new WorkLag({ database: hub.test.database, listTenants, oldest, log: { warn: vi.fn() } })
  await Promise.all([lag.read(), lag.read()])
  expect(listTenants).toHaveBeenCalledTimes(1)
  const log = { warn: vi.fn() }
  expect(await lagNow(log, () => Promise.reject(new Error('away')))).toEqual({})
  expect(log.warn).toHaveBeenCalledTimes(1)
})

test('connections, jobs and lag are those of the moment; a series that ended disappears', async () => {
  const metrics = new Metrics()
  let lag: Record<string, number> = { folding: 4 }
  metrics.showWork({
    replicaReads: () => ({ replica: 0, primary: 0 }),
    connections: () => hub.test.database.connections(),
    jobs: async () => ({ export: { ready: 2, failed: 1 } }),
    lag: async () => lag,
    failingCheckpoints: () => 3,
  })
  metrics.events.telemetryStored(5)
  metrics.events.checkpointMismatched()
  const page = await metrics.page()
  for (const line of [
    'hub_jobs{queue="export",state="ready"} 2',
    'hub_work_lag_seconds{work="folding"} 4',
    'hub_checkpoint_logs_failing 3',
    'hub_telemetry_events_stored_total 5',
    'hub_checkpoint_mismatches_total 1',
  ])
    expect(page.split('\n')).toContain(line)
  const { app } = hub.test.database.connections()
  expect(page).toContain(`hub_database_connections_max{pool="app"} ${app?.max}`)
  lag = {}
  expect(await metrics.page()).not.toContain('hub_work_lag_seconds{')
})

test('a transaction holds an active connection of its pool', async () => {
  // Nothing else uses a database without a Hub.
  const { database, drop } = await createTestDatabase({ poolSize: 4 })
  onTestFinished(drop)
  expect(database.connections().app).toEqual({ active: 0, idle: 0, max: 4 })
  const during = await database.withTenant('acme', async () => database.connections().app)
  expect(during).toEqual({ active: 1, idle: 0, max: 4 })
  expect(database.connections().app).toEqual({ active: 0, idle: 1, max: 4 })
  expect(database.connections().ingest).toEqual({ active: 0, idle: 0, max: 2 })
})
