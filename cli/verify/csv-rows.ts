import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CsvError, parse } from 'csv-parse'
import { typedColumns } from '../../contract/export-columns.ts'
import type { ExportVerifier } from '../../provenance/export/export-verifier.ts'
import { runSync } from '../../provenance/sync-async-runner.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { type ColumnLayout, isSameCsvCell, layoutOf, problemsOfCells } from './typed-cells.ts'
import { documentBytesMax } from './verified-file.ts'

/** Verifies the rows of a CSV file. Reports defects of the file to the verifier; rethrows other errors. */
export async function verifyCsvRows(content: AsyncIterable<Uint8Array>, verifier: ExportVerifier): Promise<void> {
  const rows = new CsvRows(verifier)
  const parser = parse({
    raw: true,
    relax_column_count: true,
    record_delimiter: ['\r\n', '\n'],
    max_record_size: documentBytesMax,
    // Skips unreadable rows, up to the next readable line.
    skip_records_with_error: true,
    on_skip: (error, raw) => {
      rows.skip(error, raw ?? '')
      return undefined
    },
    // Handles rows as they are read, in order with skipped ones; returning null keeps no rows in memory.
    on_record: (row) => {
      // With `raw` the row is an object around the record, although its type is that of the record.
      rows.row((row as unknown as { record: string[] }).record)
      return null
    },
  })
  parser.resume()
  await pipeline(Readable.from(content, { objectMode: true }), parser)
  rows.end()
}

class CsvRows {
  readonly #verifier: ExportVerifier
  #layout: ColumnLayout | undefined
  /** The line of the next row. */
  #line = 1
  /** An unreadable row, as far as it was read. */
  #skipped: { raw: string; code: string } | undefined

  constructor(verifier: ExportVerifier) {
    this.#verifier = verifier
  }

  row(cells: string[]): void {
    this.#endSkipped()
    const line = this.#line
    for (const cell of cells) this.#line += lineFeedsIn(cell)
    this.#line++
    if (line > 1) {
      this.#verify(line, cells)
      return
    }
    this.#layout = layoutOf(cells)
    if (this.#layout === undefined) {
      this.#verifier.wrong('columns: the first line does not name the columns of an export')
    }
  }

  /** Records a skipped row. The parser calls it repeatedly for one row, each time with more of its text. */
  skip(error: unknown, raw: string): void {
    if (this.#skipped !== undefined && !raw.startsWith(this.#skipped.raw)) this.#endSkipped()
    this.#skipped = { raw, code: error instanceof CsvError ? error.code : 'unreadable' }
  }

  end(): void {
    this.#endSkipped()
  }

  #endSkipped(): void {
    if (this.#skipped === undefined) return
    this.#verifier.unreadable(this.#line, `csv-malformed: the row cannot be read (${this.#skipped.code})`)
    this.#line += lineFeedsIn(this.#skipped.raw) + 1
    this.#skipped = undefined
  }

  #verify(line: number, cells: string[]): void {
    const layout = this.#layout
    if (layout?.hasProvenance === false) this.#verifier.plainRow(line)
    else if (layout !== undefined && cells.length !== layout.count) {
      this.#verifier.unreadable(line, `csv-malformed: the row has ${cells.length} cells, not ${layout.count}`)
    } else {
      const [canonical = '', hash = '', cosign = ''] = cells.slice(typedColumns.length)
      const verification = this.#verifier.cells(line, { canonical, hash, cosign }, (record) =>
        // A problem with the columns is already reported.
        layout === undefined ? [] : problemsOfCells(cells, record, layout, isSameCsvCell),
      )
      runSync(verification, nodeCrypto)
    }
  }
}

function lineFeedsIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}
