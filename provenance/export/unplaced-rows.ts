/** Maximum number of stored lines: enough to distinguish damaged rows from missing ones if few are damaged. */
const linesMax = 10_000

/** Lines of failed rows whose leaf is unknown. A nearby leaf without a row may be theirs. */
export class UnplacedRows {
  readonly #lines = new Set<number>()

  add(line: number): void {
    if (this.#lines.size < linesMax) this.#lines.add(line)
  }

  /** Takes up to `count` lines within the range. Returns the number taken. */
  take(fromLine: number, toLine: number, count: number): number {
    let taken = 0
    for (const line of this.#lines) {
      if (taken === count) break
      if (line < fromLine || line > toLine) continue
      this.#lines.delete(line)
      taken++
    }
    return taken
  }
}
