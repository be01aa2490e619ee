import type { VerificationSummary } from '../../verification/verification-types.ts'
import type { ExportProgress } from '../exports-types.ts'
import type { EntryPart } from './export-parts-types.ts'

/** Counts the contents of an export, and reports its progress. */
export class ExportTally {
  /** The number of leaves of the log that the export covers. */
  readonly #leaves: number
  readonly #progress: ExportProgress
  readonly #everyMs: number
  #reportedAt = 0
  /** The number of leaves it has passed. */
  #passed = 0
  #sealedRows = 0
  rows = 0
  readonly verificationSummary: VerificationSummary = { checked: 0, verified: 0, tampered: 0, cosign_invalid: 0 }

  constructor(leaves: number, progress: ExportProgress, everyMs: number) {
    this.#leaves = leaves
    this.#progress = progress
    this.#everyMs = everyMs
  }

  /** Returns the number of leaves without a row, as far as their seals are stored. */
  get leftOut(): number {
    return Math.max(0, this.#passed - this.#sealedRows)
  }

  async add(parts: readonly EntryPart[]): Promise<void> {
    for (const { seal, records, isLast } of parts) {
      this.rows += records.length
      if (seal) this.#sealedRows += records.length
      if (isLast) this.#passed += Math.floor((seal?.leaves.length ?? 0) / 32)
      for (const { verification } of records) if (verification) this.#addVerification(verification)
    }
    if (performance.now() - this.#reportedAt >= this.#everyMs) await this.report()
  }

  async report(): Promise<void> {
    const share = this.#leaves === 0 ? 1 : Math.min(1, this.#passed / this.#leaves)
    await this.#progress(this.rows, this.#rowsExpected(), share)
    this.#reportedAt = performance.now()
  }

  /** Extrapolates the rows from the passed leaves; before the first row, it expects one row per leaf. */
  #rowsExpected(): number {
    const left = Math.max(0, this.#leaves - this.#passed)
    const expected = this.#passed === 0 ? left : Math.round((this.rows / this.#passed) * left)
    return this.rows + (this.rows === 0 ? left : Math.min(expected, left))
  }

  /** Counts a verification as the Hub query does. */
  #addVerification({ verified, checks }: NonNullable<EntryPart['records'][number]['verification']>): void {
    const summary = this.verificationSummary
    summary.checked += 1
    if (verified) summary.verified += 1
    if (!checks.provenance_hash_matches || !checks.no_active_legal_hold_violation) summary.tampered += 1
    if (!checks.provenance_cosign_valid) summary.cosign_invalid += 1
  }
}
