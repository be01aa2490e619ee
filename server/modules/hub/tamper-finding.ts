import type { JsonValue } from '../../../provenance/json.ts'

/** A failed verification of a record, or, with a subject, another inconsistency of stored data. */
export type TamperFinding =
  | { recordId: string; failedChecks: readonly string[] }
  | (NamedFinding & { found: Record<string, JsonValue> })

export interface NamedFinding {
  /** `record:<id>`, `seal:<id>`, `log:<name>`, `user:<id>` and others; docs/auditor.md lists them. */
  subject: string
  /** Names of the checks that failed. */
  failedChecks: readonly string[]
  found?: Record<string, JsonValue>
  /** The part of the service that found it. */
  service: string
}

/** An additional failed check of a report that somebody tried to prevent. */
export const reportCheck = 'report_proven'

export function named(finding: TamperFinding): NamedFinding {
  if ('subject' in finding) return finding
  const { recordId, failedChecks } = finding
  return { subject: `record:${recordId}`, failedChecks, service: 'verification' }
}

/**
 * Returns the text by which findings of one day count as the same. A record has one. Another subject has one for each
 * set of failed checks and each table, so that a finding does not hide a later one of another kind. The names come from
 * the code, so their number has a bound.
 */
export function findingKey({ subject, failedChecks, found }: Omit<NamedFinding, 'service'>): string {
  if (subject.startsWith('record:')) return subject
  const checks = failedChecks.filter((check) => check !== reportCheck).sort()
  return JSON.stringify([subject, checks, found?.table ?? null])
}
