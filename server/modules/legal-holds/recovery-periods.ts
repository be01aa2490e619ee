import { matchesFilter } from '../../../contract/record-filter.ts'
import type { TenantTx } from '../../db/database.ts'
import type { HoldCheck } from './holds-types.ts'
import { freezeBuffers, frozenAfter, type HoldScope, resumeBuffers } from './recovery-periods-store.ts'

/**
 * Pauses and resumes the recovery periods of purged records under holds. All functions require the exclusive lock of
 * holds, so purging waits meanwhile: about one second for 50,000 records.
 */

export type { HoldScope } from './recovery-periods-store.ts'
/** Pauses the recovery periods in the scope of a new hold. Returns the time of the latest purge among them. */
export const pauseRecoveryPeriods = freezeBuffers

const partSize = 5_000

/** Resumes the recovery periods that a released hold paused, unless another hold applies to the record. */
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
