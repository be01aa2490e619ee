import { setTimeout as delay } from 'node:timers/promises'
import type { TestHub } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

/** All that sends SQL when stored records are verified anew, and when the key of a tenant's seals is rotated. */
export async function walkSweep(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const found = await hub.tenant(tenant)
  const { sweeper } = hub.modules.hub
  await hub.modules.provenanceKeyRotation.rotate(found, { operator: 'walk' })
  await hub.test.database.withRegistry((tx) => hub.modules.keys.provenance.withdraw(tx, 'no key'))
  await sweeper.sweep(found)
  sweeper.start()
  for (const endsAtMs = performance.now() + scaled(30_000); !(await isSweptBothWays(hub, tenant)); ) {
    if (performance.now() > endsAtMs) throw new Error('the sweeper did not get round')
    await delay(20)
  }
  await sweeper.stop()
}

async function isSweptBothWays(hub: TestHub, tenant: string): Promise<boolean> {
  const lanes = await hub.test.database.withTenant(tenant, (tx) =>
    tx.db.selectFrom('hub.sweeps').select('finished_at').where('tenant_id', '=', tx.tenantId).execute(),
  )
  return lanes.length === 2 && lanes.every((lane) => lane.finished_at !== null)
}
