import { alertsLockClass } from '../../../db/advisory-locks.ts'
import { lockTenant } from '../../../db/tenant-lock.ts'
import type { ErasureParticipant } from '../../hub/erasure/erasure-types.ts'
import { removeAlertsAbout } from './alerts-store.ts'

/**
 * Once no record of a person remains, open alerts about them are forgotten, and nothing tells that they have closed:
 * it would name the person.
 */
export const alertErasure: ErasureParticipant = {
  name: 'alerts about people',
  async forget(tx, records) {
    const users = [...new Set(records.flatMap(({ user_id }) => user_id ?? []))]
    if (users.length === 0) return
    // A look that has seen them already ends first.
    await lockTenant(tx, alertsLockClass)
    await removeAlertsAbout(
      tx,
      users,
      records.map((record) => record.record_id),
    )
  },
}
