import { alertsLockClass } from '../../../db/advisory-locks.ts'
import { lockTenant } from '../../../db/tenant-lock.ts'
import { usersWithoutRecords } from '../../../db/users-without-records.ts'
import type { ErasureParticipant } from '../../erasure/erasure-types.ts'
import { lockWebhooks } from '../webhook-lock-store.ts'
import { removeAlertsAbout } from './alerts-store.ts'

/**
 * Deletes open alerts about a person once no record of them remains. No message reports the end, because it would name
 * the person.
 */
export const alertErasure: ErasureParticipant = {
  name: 'alerts about people',
  async forget(tx, records) {
    const users = [...new Set(records.flatMap(({ user_id }) => user_id ?? []))]
    if (users.length === 0) return
    // Waits for running changes of alerts; later ones check which people remain.
    await lockTenant(tx, alertsLockClass)
    // A change of rules takes this lock before that of alerts. The other order would deadlock.
    await lockWebhooks(tx)
    const recordIds = records.map((record) => record.record_id)
    await removeAlertsAbout(tx, await usersWithoutRecords(tx, users, recordIds))
  },
}
