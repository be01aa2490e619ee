import { microsOf, timeOfMicros } from '../../../records/monotonic-timestamp.ts'
import { recordIdFloor } from '../../../records/record-clock.ts'
import type { OverdueCriteria } from './retention-store.ts'
import type { RetentionRules } from './retention-types.ts'

/** The author of purges by retention rules. */
export const retentionSubject = 'service:retention'

const dayMicros = 86_400_000_000

/**
 * Returns the time until which a record must be kept, or undefined without a rule. Times use the one text form of
 * timestamps.
 */
export function keptUntil(
  { rules }: RetentionRules,
  record: { record_type: string; created_at: string },
): string | undefined {
  const days = rules.find((rule) => rule.record_type === record.record_type)?.min_days
  if (days === undefined) return undefined
  return timeOfMicros(microsOf(record.created_at) + days * dayMicros)
}

/**
 * Returns the criteria for records beyond their maximum retention at a time. The service never purges governance
 * events.
 */
export function overdueCriteria({ rules }: RetentionRules, now: string): OverdueCriteria[] {
  return rules.flatMap(({ record_type, max_days }) =>
    max_days === undefined || record_type === 'governance_event'
      ? []
      : [{ recordType: record_type, beforeId: idFloorOf(microsOf(now) - max_days * dayMicros) }],
  )
}

function idFloorOf(micros: number): string {
  const epochMs = Math.floor(micros / 1000)
  return recordIdFloor(epochMs, micros - epochMs * 1000)
}
