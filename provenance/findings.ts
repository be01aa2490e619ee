/** One failure of a verification. */
export type VerificationFailure = {
  /**
   * The position in the file, see {@link ExportRow}: the row, or the place where a missing one belongs; null if the
   * failure concerns no single row.
   */
  readonly line: number | null
  readonly record_id: string | null
  /** A code, a colon, and its meaning here. */
  readonly reason: string
}

/** Maximum number of failures that are listed: every row of a file can fail. */
export const failuresMax = 10_000

/** A row as failures name it. An id in bytes is converted to text only on demand, which is rare. */
export type NamedRow = { readonly line: number; readonly recordId: string | Uint8Array | null; hasFailed: boolean }

/** Collects failures in bounded memory. */
export class Findings {
  /** Number of rows with a failure. */
  failedRows = 0
  /** Number of expected records that are absent. */
  missing = 0
  #total = 0
  readonly #failures: VerificationFailure[] = []

  row(row: NamedRow, reason: string): void {
    if (!row.hasFailed) this.failedRows++
    row.hasFailed = true
    this.#add({ line: row.line, record_id: textOfId(row.recordId), reason })
  }

  /** @param line the position where the row belongs */
  missingRow(line: number, reason: string, count = 1): void {
    this.missing += count
    this.#add({ line, record_id: null, reason })
  }

  /** Records a failure of the file or its manifest, not of one row. */
  whole(reason: string): void {
    this.#add({ line: null, record_id: null, reason })
  }

  get isEmpty(): boolean {
    return this.#total === 0
  }

  /** Number of failures, including unlisted ones. */
  get total(): number {
    return this.#total
  }

  /** Returns failures by line, those without a line last. */
  list(): VerificationFailure[] {
    const sorted = this.#failures.sort((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity) || 0)
    const omitted = this.#total - sorted.length
    if (omitted === 0) return sorted
    return [...sorted, { line: null, record_id: null, reason: `omitted: ${omitted} further failures are not listed` }]
  }

  #add(failure: VerificationFailure): void {
    this.#total++
    if (this.#failures.length < failuresMax) this.#failures.push(failure)
  }
}

function textOfId(id: NamedRow['recordId']): string | null {
  if (id === null || typeof id === 'string') return id
  const text = String.fromCharCode(...id)
  return /^[0-9a-f-]{36}$/.test(text) ? text : null
}
