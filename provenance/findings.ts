/** One thing that is wrong with what was verified. */
export type VerificationFailure = {
  /** Where in the file, see {@link ExportRow}: the row, or where a missing one belongs; null where it is none of the rows. */
  readonly line: number | null
  readonly record_id: string | null
  /** A code, a colon, and what that means here. */
  readonly reason: string
}

/** Failures that are kept one by one: a file can be wrong in every row. */
export const failuresMax = 10_000

/** A row as failures name it; an id in bytes becomes a text only where it is asked for, which it rarely is. */
export type NamedRow = { readonly line: number; readonly recordId: string | Uint8Array | null; hasFailed: boolean }

/** Collects what is wrong, in bounded memory. */
export class Findings {
  /** Rows with something wrong. */
  failedRows = 0
  /** Records that should be there and are not. */
  missing = 0
  #total = 0
  readonly #failures: VerificationFailure[] = []

  row(row: NamedRow, reason: string): void {
    if (!row.hasFailed) this.failedRows++
    row.hasFailed = true
    this.#add({ line: row.line, record_id: textOfId(row.recordId), reason })
  }

  /** @param line where it belongs */
  missingRow(line: number, reason: string, count = 1): void {
    this.missing += count
    this.#add({ line, record_id: null, reason })
  }

  /** Of the file or its manifest, not of one row. */
  whole(reason: string): void {
    this.#add({ line: null, record_id: null, reason })
  }

  get isEmpty(): boolean {
    return this.#total === 0
  }

  /** How many, with those that were not kept. */
  get total(): number {
    return this.#total
  }

  /** By line; those of no line last. */
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
