import { viewsLockClass } from '../../db/advisory-locks.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import { usersWithoutRecords } from '../../db/users-without-records.ts'
import type { ErasureParticipant } from '../hub/erasure/erasure-types.ts'
import { deleteViewsNaming } from './views-store.ts'

/** Once no record of a user remains, views whose query names them go: there is nothing left for them to show. */
export const viewsErasure: ErasureParticipant = {
  name: 'saved views',
  async forget(tx, records) {
    const users = [...new Set(records.flatMap(({ user_id }) => user_id ?? []))]
    if (users.length === 0) return
    const gone = await usersWithoutRecords(
      tx,
      users,
      records.map((record) => record.record_id),
    )
    if (gone.length === 0) return
    // What is being saved is seen.
    await lockTenant(tx, viewsLockClass)
    await deleteViewsNaming(tx, gone)
  },
}
