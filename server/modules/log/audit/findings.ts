import type { AuditFailure } from './audit-types.ts'

/** Maximum number of listed failures. It bounds the memory for a log that is entirely wrong. */
const listedMax = 100

/** Counts failures and lists the first ones. */
export class Findings {
  readonly listed: AuditFailure[] = []
  failed = 0

  add(at: string, reason: string): void {
    this.failed += 1
    if (this.listed.length < listedMax) this.listed.push({ at, reason })
  }
}
