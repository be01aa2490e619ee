import { logRetentionDaysMin } from './limits.ts'

/** A retention rule that purges records before they are six months old. */
export interface EarlyPurge {
  recordType: string
  /** A sentence of ASCII characters without quotation marks, as a header requires. */
  text: string
}

/** Returns the rules that purge records before they are six months old, as laws about logs of AI systems may forbid. */
export function earlyPurges(rules: readonly { record_type: string; max_days?: number }[]): EarlyPurge[] {
  return rules.flatMap(({ record_type, max_days }) => {
    if (max_days === undefined || max_days >= logRetentionDaysMin) return []
    const text =
      `${record_type} records are purged after ${max_days} days. Laws such as the EU AI Act (Articles 19 and 26) may ` +
      `ask for logs of six months at least: ${logRetentionDaysMin} days.`
    return [{ recordType: record_type, text }]
  })
}
