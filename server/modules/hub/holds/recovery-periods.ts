import { matchesFilter } from '../../../../contract/record-filter.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { HoldCheck } from './holds-types.ts'
import { freezeBuffers, frozenAfter, type HoldScope, resumeBuffers } from './recovery-periods-store.ts'

/**
 * Holds and the recovery buffers of records that are purged already. All under the exclusive lock of holds, so that
 * purging waits meanwhile: a second or so for 50,000 records.
 */

export type { HoldScope } from './recovery-periods-store.ts'
/** Stops the clock of the buffers of all that a new hold is over; answers when the latest of them was purged. */
export const pauseRecoveryPeriods = freezeBuffers

const partSize = 5_000

/** Lets the buffers run on that a hold has frozen, now that it is released, where no other hold is over the record. */
export async function resumeRecoveryPeriods(
  tx: TenantTx,
  { hold_id: except, ...scope }: HoldScope & { hold_id: string },
  now: string,
  holds: HoldCheck,
): Promise<void> {
  for (let after: string | undefined; ; ) {
    const found = await frozenAfter(tx, scope, after, partSize)
    const part = found.filter(
      (record) => !('filter' in scope) || matchesFilter(scope.filter, record, record.created_at),
    )
    const others = await holds.activeOver(tx, part, { except })
    const free = part.filter((_, at) => others[at]!.length === 0).map(({ record_id }) => record_id)
    if (free.length > 0) await resumeBuffers(tx, free, now)
    if (found.length < partSize) return
    after = found.at(-1)!.record_id
  }
}
