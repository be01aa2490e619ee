import { alertsLockClass } from '../../../db/advisory-locks.ts'
import { lockTenant } from '../../../db/tenant-lock.ts'
import { usersWithoutRecords } from '../../../db/users-without-records.ts'
import type { ErasureParticipant } from '../../hub/erasure/erasure-types.ts'
import { lockWebhooks } from '../webhook-lock-store.ts'
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
    // What is opened or closed meanwhile is done first, and what is to be opened afterwards asks who is still there.
    await lockTenant(tx, alertsLockClass)
    // Who changes rules has this one and ends alerts: in the other order, each would wait for the other.
    await lockWebhooks(tx)
    const recordIds = records.map((record) => record.record_id)
    await removeAlertsAbout(tx, await usersWithoutRecords(tx, users, recordIds))
  },
}
