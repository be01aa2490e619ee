import { stringify } from 'csv-stringify/sync'
import {
  csvCell,
  provenanceColumns,
  typedColumns,
  typedValue,
  verifiedColumn,
} from '../../../../contract/export-columns.ts'
import type { ExportedRecord, PartPages } from './export-parts-types.ts'

interface CsvOptions {
  includeProvenance: boolean
  verify: boolean
}

/** Yields a CSV file: RFC 4180 in UTF-8 with a header row. No text cell is a formula. */
export async function* csvFile(pages: PartPages, options: CsvOptions): AsyncGenerator<Buffer> {
  yield encode([headerOf(options)])
  for await (const parts of pages) {
    for (const { records } of parts)
      if (records.length > 0) yield encode(records.map((record) => cellsOf(record, options)))
  }
}

function headerOf({ includeProvenance, verify }: CsvOptions): string[] {
  return [
    ...typedColumns.map(({ name }) => name),
    ...(includeProvenance ? provenanceColumns : []),
    ...(verify ? [verifiedColumn] : []),
  ]
}

function cellsOf(record: ExportedRecord, { includeProvenance, verify }: CsvOptions): string[] {
  const cells = typedColumns.map((column) => csvCell(column.type, typedValue(column, record.members)))
  if (includeProvenance) {
    cells.push(csvCell('text', record.canonical), record.provenanceHash, record.provenanceCosign)
  }
  if (verify) cells.push(String(record.verification?.verified === true))
  return cells
}

function encode(rows: readonly (readonly string[])[]): Buffer {
  // A lone line break of either kind needs quotes too.
  return Buffer.from(stringify([...rows] as string[][], { record_delimiter: '\r\n', quoted_match: /[\r\n]/ }))
}
