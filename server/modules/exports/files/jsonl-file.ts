import type { ExportedRecord, PartPages } from './export-parts-types.ts'
import { RowBytes } from './row-bytes.ts'

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
