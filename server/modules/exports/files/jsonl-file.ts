import type { ExportedRecord, PartPages } from './export-parts-types.ts'

/**
 * Yields JSON Lines: one record in the form of the API per line. Nothing is serialised again: a row is the stored text
 * with its last brace replaced by the added members. So a verifier can take it apart without parsing.
 */
export async function* jsonlFile(pages: PartPages, includeProvenance: boolean): AsyncGenerator<Buffer> {
  const bytes = new RowBytes()
  for await (const parts of pages) {
    for (const { records } of parts) {
      for (const record of records) writeRow(bytes, record, includeProvenance)
      if (bytes.isFull) yield* bytes.take()
    }
  }
  yield* bytes.take()
}

function writeRow(bytes: RowBytes, record: ExportedRecord, includeProvenance: boolean): void {
  const { answer, canonical, verification } = record
  if (answer !== undefined) {
    bytes.text(includeProvenance ? answer : withoutProvenance(answer))
    bytes.back(1)
  } else {
    bytes.text(canonical)
    bytes.back(1)
    if (includeProvenance) {
      const { provenanceHash, provenanceCosign } = record
      // Only one-byte characters: digits, letters, `-`, `_`, `:` and `.`.
      bytes.ascii(`,"is_purged":false,"provenance_hash":"${provenanceHash}","provenance_cosign":"${provenanceCosign}"`)
    } else bytes.ascii(',"is_purged":false')
  }
  if (verification) bytes.ascii(`,"verification":${JSON.stringify(verification)}`)
  bytes.ascii('}\n')
}

function withoutProvenance(answer: string): string {
  const { provenance_hash: _hash, provenance_cosign: _cosign, ...rest } = JSON.parse(answer) as Record<string, unknown>
  return JSON.stringify(rest)
}

/** Size of a chunk: large enough that the cost of passing it on is negligible. */
const chunkBytes = 512 * 1024

/** Maximum UTF-8 bytes for each UTF-16 unit. */
const bytesPerUnitMax = 3

/** Gathers text as UTF-8 in large chunks. A chunk that was taken is not modified again. */
class RowBytes {
  readonly #full: Buffer[] = []
  #chunk = Buffer.allocUnsafeSlow(chunkBytes)
  #at = 0
  #fullBytes = 0

  /** Returns whether a full chunk can be taken. */
  get isFull(): boolean {
    return this.#fullBytes > 0
  }

  text(text: string): void {
    this.#room(text.length * bytesPerUnitMax)
    this.#at += this.#chunk.write(text, this.#at)
  }

  /** Appends text of one-byte characters. */
  ascii(text: string): void {
    this.#room(text.length)
    this.#at += this.#chunk.write(text, this.#at, 'latin1')
  }

  /** Removes the last bytes that {@link text} has just written. */
  back(bytes: number): void {
    this.#at -= bytes
  }

  /** Returns everything so far. */
  take(): Buffer[] {
    this.#passOn(chunkBytes)
    this.#fullBytes = 0
    return this.#full.splice(0)
  }

  #room(bytes: number): void {
    if (this.#at + bytes > this.#chunk.length) this.#passOn(Math.max(chunkBytes, bytes))
  }

  #passOn(nextBytes: number): void {
    if (this.#at > 0) {
      this.#full.push(this.#chunk.subarray(0, this.#at))
      this.#fullBytes += this.#at
      this.#chunk = Buffer.allocUnsafeSlow(nextBytes)
      this.#at = 0
    } else if (this.#chunk.length < nextBytes) this.#chunk = Buffer.allocUnsafeSlow(nextBytes)
  }
}
