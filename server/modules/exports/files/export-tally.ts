import type { VerificationSummary } from '../../hub/verification/verification-types.ts'
import type { ExportProgress } from '../exports-types.ts'
import type { EntryPart } from './export-parts-types.ts'

/** Counts what an export has, and tells how far it is. */
export class ExportTally {
  /** Leaves of the log that the export goes through. */
  readonly #leaves: number
  readonly #progress: ExportProgress
  readonly #everyMs: number
  #toldAt = 0
  /** Leaves that were passed. */
  #passed = 0
  /** Rows of seals that are stored. */
  #sealedRows = 0
  rows = 0
  readonly verificationSummary: VerificationSummary = { checked: 0, verified: 0, tampered: 0, cosign_invalid: 0 }

  constructor(leaves: number, progress: ExportProgress, everyMs: number) {
    this.#leaves = leaves
    this.#progress = progress
    this.#everyMs = everyMs
  }

  /** Leaves that no row stands for, as far as their seals are stored. */
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
    if (performance.now() - this.#toldAt >= this.#everyMs) await this.tell()
  }

  async tell(): Promise<void> {
    const share = this.#leaves === 0 ? 1 : Math.min(1, this.#passed / this.#leaves)
    await this.#progress(this.rows, this.#rowsExpected(), share)
    this.#toldAt = performance.now()
  }

  /** As if the rest had as many rows as what was passed; before the first row, as many as it has leaves. */
  #rowsExpected(): number {
    const left = Math.max(0, this.#leaves - this.#passed)
    const expected = this.#passed === 0 ? left : Math.round((this.rows / this.#passed) * left)
    return this.rows + (this.rows === 0 ? left : Math.min(expected, left))
  }

  /** As the Hub query counts them. */
  #addVerification({ verified, checks }: NonNullable<EntryPart['records'][number]['verification']>): void {
    const summary = this.verificationSummary
    summary.checked += 1
    if (verified) summary.verified += 1
    if (!checks.provenance_hash_matches || !checks.no_active_legal_hold_violation) summary.tampered += 1
    if (!checks.provenance_cosign_valid) summary.cosign_invalid += 1
  }
}
