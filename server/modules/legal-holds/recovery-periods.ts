import { matchesFilter } from '../../../contract/record-filter.ts'
import type { TenantTx } from '../../db/database.ts'
import type { HoldCheck } from './holds-types.ts'
import { type HoldScope, pausedAfter, restartRecoveryPeriods } from './recovery-periods-store.ts'

const partSize = 5_000

/**
 * Resumes the recovery periods that a released hold paused, unless another hold applies to the record. Requires the
 * exclusive lock of holds, so purging waits meanwhile: about one second for 50,000 records.
 */
export async function resumeRecoveryPeriods(
  tx: TenantTx,
  { hold_id: except, ...scope }: HoldScope & { hold_id: string },
  now: string,
  holds: HoldCheck,
): Promise<void> {
  for (let after: string | undefined; ; ) {
    const found = await pausedAfter(tx, scope, after, partSize)
    const part = found.filter(
      (record) => !('filter' in scope) || matchesFilter(scope.filter, record, record.created_at),
    )
    const others = await holds.activeOver(tx, part, { except })
    const free = part.filter((_, at) => others[at]!.length === 0).map(({ record_id }) => record_id)
    if (free.length > 0) await restartRecoveryPeriods(tx, free, now)
    if (found.length < partSize) return
    after = found.at(-1)!.record_id
  }
}
