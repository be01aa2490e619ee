import type { AuditFailure } from './audit-types.ts'

/** Enough to see what happened, without filling the memory where everything is wrong. */
const listedMax = 100

/** Counts what is wrong, and lists the first. */
export class Findings {
  readonly listed: AuditFailure[] = []
  failed = 0

  add(at: string, reason: string): void {
    this.failed += 1
    if (this.listed.length < listedMax) this.listed.push({ at, reason })
  }
}
