import { recoveryPeriodDays } from '../../contract/limits.ts'
import type { RecordState } from './record-state-store.ts'

/** The author of purges by retention rules. */
export const retentionSubject = 'service:retention'

export const recoveryBufferMicros = recoveryPeriodDays * 86_400_000_000

/** Returns the details of a purge event, which verification compares with the state. */
export function purgeDetails(recordType: string, state: RecordState) {
  return {
    record_type: recordType,
    reason: state.purge_reason,
    purged_at: state.purged_at,
    hard_delete_after: state.hard_delete_after,
    revision: state.revision,
  }
}
