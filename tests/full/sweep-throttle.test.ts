import { afterAll, beforeAll, expect, test } from 'vitest'
import { sweepPlan } from '../../server/modules/integrity-sweep/sweeper.ts'
import { decisionDraft } from '../hub/attack-scenes.ts'
import { laneOf } from '../hub/sweep-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

const records = 20_000
let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

test('a tenant of 20,000 records is met wholly, at the pace of the plan, and one that changed is reported', async () => {
  const tenant = await hub.tenant('acme')
  const { sealer, writer } = hub.modules.recordStore.records
  let last = ''
  for (let at = 0; at < records; at += 1_000) {
    const drafts = Array.from({ length: 1_000 }, (_, i) => ({ createdBy: 'client-1', ...decisionDraft(`${at + i}`) }))
    const batch = await sealer.seal(tenant, drafts)
    await hub.test.database.ingest('acme', writer.copySteps(batch))
    last = batch.records.at(-1)!.recordId
  }
  await hub.modules.log.logs.integrate(tenant)
  const cpu = process.cpuUsage()
  const wholeMs = performance.now()
  expect(await hub.modules.hub.sweeper.sweep(tenant)).toMatchObject({ failed: 0, inconsistent: 0 })
  const { user, system } = process.cpuUsage(cpu)
  console.log(
    `all at once: ${Math.round(performance.now() - wholeMs)} ms, CPU of the process ${Math.round((user + system) / 1000)} ms`,
  )

  const db = await hub.superuserClient()
  await db.query(`delete from hub.records where record_id = $1`, [last])
  const startMs = performance.now()
  hub.modules.hub.sweeper.start()
  await expect
    .poll(async () => (await laneOf(hub, tenant, 'all'))?.finished_at, { timeout: scaled(60_000) })
    .toBeTruthy()
  const tookMs = performance.now() - startMs
  await hub.modules.hub.sweeper.stop()
  console.log(`at the usual pace: ${Math.round(tookMs)} ms`)
  // In well under a minute by plan, and not faster.
  expect(records / sweepPlan.passRate).toBeLessThan(30)
  expect(tookMs).toBeGreaterThan((1000 * records) / sweepPlan.passRate / 2)
  expect((await laneOf(hub, tenant, 'all'))?.failed).toBeGreaterThan(0)
})
