import { firstPosition } from '../../server/modules/roster/sync/sync-state.ts'
import { insertSync, saveSync } from '../../server/modules/roster/sync/syncs-store.ts'
import type { TestHub, TestTenant } from '../support/hub.ts'

let made = 0

/** A sync that waits for somebody, and that no worker knows of. */
export function waitingSync(hub: TestHub, tenant: TestTenant): Promise<string> {
  made += 1
  const syncId = `sync_${String(made).padStart(24, 'Waiting')}`
  return hub.test.database.withTenant(tenant, async (tx) => {
    const row = await insertSync(tx, {
      ...{ sync_id: syncId, mode: 'pull', created_at: '2026-01-01T00:00:00.000000Z', created_by: 'service:hub' },
      position: firstPosition('absent', 200),
    })
    await saveSync(tx, { ...row, status: 'awaiting_confirmation', to_deactivate: 1, confirmation_reason: 'A test.' })
    return syncId
  })
}
