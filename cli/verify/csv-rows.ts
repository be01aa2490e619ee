import { pipeline, Readable } from 'node:stream'
import { CsvError, type Info, parse } from 'csv-parse'
import { typedColumns } from '../../contract/export-columns.ts'
import { runSync } from '../../provenance/computation.ts'
import type { ExportVerifier } from '../../provenance/export-verifier.ts'
import { nodeCrypto } from '../../server/modules/hub/node-crypto.ts'
import { type ColumnLayout, isSameCsvCell, layoutOf, problemsOfCells } from './typed-cells.ts'
import { documentBytesMax } from './verified-file.ts'

/** Verifies the rows of a CSV file. What is wrong with the file is told to the verifier; other errors are passed on. */
export async function verifyCsvRows(content: AsyncIterable<Uint8Array>, verifier: ExportVerifier): Promise<void> {
  const parser = parse({
    info: true,
    relax_column_count: true,
    record_delimiter: ['\r\n', '\n'],
    max_record_size: documentBytesMax,
  })
  const errors: unknown[] = []
  const source = Readable.from(content, { objectMode: true })
  // The iteration below fails, too, but not always with the first error.
  pipeline(source, parser, (error) => error && errors.push(error))
  let layout: ColumnLayout | undefined
  let line = 1
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: Info }>) {
      const begin = line
      line = info.lines + 1
      if (begin > 1) verifyRow(begin, record, layout, verifier)
      else {
        layout = layoutOf(record)
        if (layout === undefined) verifier.wrong('columns: the first line does not name the columns of an export')
      }
    }
  } catch (error) {
    const first = errors[0] ?? error
    if (!(first instanceof CsvError)) throw first
    verifier.unreadable(line, `csv-malformed: a row cannot be read, and nothing behind it was (${first.code})`)
  }
}

function verifyRow(line: number, cells: string[], layout: ColumnLayout | undefined, verifier: ExportVerifier): void {
  if (layout?.hasProvenance === false) verifier.plainRow(line)
  else if (layout !== undefined && cells.length !== layout.count) {
    verifier.unreadable(line, `csv-malformed: the row has ${cells.length} cells, not ${layout.count}`)
  } else {
    const [canonical = '', hash = '', cosign = ''] = cells.slice(typedColumns.length)
    const verification = verifier.cells(line, { canonical, hash, cosign }, (record) =>
      // What is wrong with the columns is told already.
      layout === undefined ? [] : problemsOfCells(cells, record, layout, isSameCsvCell),
    )
    runSync(verification, nodeCrypto)
  }
}
