import fc from 'fast-check'
import { expect } from 'vitest'
import { fakeClock } from '../support/fake-clock.ts'
import { lifecycleCommands } from './lifecycle-commands.ts'
import { LifecycleModel } from './lifecycle-model.ts'
import type { RecordLab } from './record-lab.ts'

/** Lets sequences of calls run, each on a tenant and a clock of its own, beside the model. */
export async function checkLifecycles(
  lab: RecordLab,
  { maxCommands, ...parameters }: { maxCommands: number; numRuns: number; seed?: number },
): Promise<void> {
  await (await lab.superuserClient()).query('select hub.ensure_record_partitions(24)')
  let runs = 0
  const property = fc.asyncProperty(lifecycleCommands(maxCommands), async (commands) => {
    runs += 1
    const time = fakeClock()
    const tenant = await lab.openTenant(`run-${runs}`)
    const hub = lab.openProcess(time)
    await fc.asyncModelRun(() => ({ model: new LifecycleModel(), real: { hub, tenant, time } }), commands)
    await hub.tampering.settled()
  })
  await fc.assert(property, parameters)
  const { rows } = await (await lab.superuserClient()).query(
    `select count(*)::int as reports from hub.records where event_kind = 'hub.tamper_detected'`,
  )
  expect(rows).toEqual([{ reports: 0 }])
}
