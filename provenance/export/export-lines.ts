import { joinBytes } from '../bytes.ts'
import type { SyncAsyncTask } from '../sync-async-runner.ts'
import type { ExportVerifier } from './export-verifier.ts'

const lineFeed = 10
/** Maximum bytes of a line, far above a record's maximum. A file without line feeds must not be read into memory. */
const lineBytesMax = 64 * 1024 * 1024

/** Cuts a stream of bytes into lines of JSON and verifies each. */
export class ExportLines {
  readonly #verifier: ExportVerifier
  #line = 1
  /** The beginning of an incomplete line. */
  #parts: Uint8Array[] = []
  #partsLength = 0
  #isGivenUp = false

  constructor(verifier: ExportVerifier) {
    this.#verifier = verifier
  }

  /** @param chunk is retained until its last line ends */
  *chunk(chunk: Uint8Array): SyncAsyncTask<void> {
    let from = 0
    while (!this.#isGivenUp) {
      const to = chunk.indexOf(lineFeed, from)
      if (to < 0) break
      yield* this.#row(chunk.subarray(from, to))
      from = to + 1
    }
    if (this.#isGivenUp || from === chunk.length) return
    this.#parts.push(chunk.subarray(from))
    this.#partsLength += chunk.length - from
    if (this.#partsLength <= lineBytesMax) return
    this.#verifier.unreadable(
      this.#line,
      `record-malformed: a line of more than ${lineBytesMax} bytes; nothing behind it was read`,
    )
    this.#isGivenUp = true
    this.#parts = []
  }

  /** Verifies the last line if it does not end in a line feed. */
  *end(): SyncAsyncTask<void> {
    if (this.#parts.length > 0) yield* this.#row(new Uint8Array(0))
  }

  *#row(rest: Uint8Array): SyncAsyncTask<void> {
    let row = rest
    if (this.#parts.length > 0) {
      row = joinBytes([...this.#parts, rest])
      this.#parts = []
      this.#partsLength = 0
    }
    yield* this.#verifier.jsonRow(this.#line++, row)
  }
}
