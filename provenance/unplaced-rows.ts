/** Enough to tell a damaged row from a missing one where few are damaged. */
const linesMax = 10_000

/** Lines of rows that failed and whose leaf is not known: a leaf that has no row nearby may be theirs. */
export class UnplacedRows {
  readonly #lines = new Set<number>()

  add(line: number): void {
    if (this.#lines.size < linesMax) this.#lines.add(line)
  }

  /** Takes as many as asked for out of those between the lines, or as there are. Answers how many. */
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
