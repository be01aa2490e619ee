import { microsOf, timeOfMicros } from '../monotonic-timestamp.ts'
import { recordIdFloor } from '../record-clock.ts'
import type { OverdueCriteria } from './retention-store.ts'
import type { RetentionRules } from './retention-types.ts'

/** Who purges what retention rules find too old. */
export const retentionSubject = 'service:retention'

const dayMicros = 86_400_000_000

/** Until when a record must stay, or undefined where no rule says so. Times in the one form of timestamps. */
export function keptUntil(
  { rules }: RetentionRules,
  record: { record_type: string; created_at: string },
): string | undefined {
  const days = rules.find((rule) => rule.record_type === record.record_type)?.min_days
  if (days === undefined) return undefined
  return timeOfMicros(microsOf(record.created_at) + days * dayMicros)
}

/** What the rules find too old at a time. Governance events are never purged by the service. */
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
