import { csvCell } from '../../contract/export-columns.ts'
import type { MetricColumn } from './metric-columns.ts'

/**
 * Returns CSV of RFC 4180 with a header row, like the Hub's own exports: no text cell is a formula.
 *
 * @returns the text of the file, with CRLF at the end of each line
 */
export async function csvOf<Row>(columns: readonly MetricColumn<Row>[], rows: readonly Row[]): Promise<string> {
  const { stringify } = await import('csv-stringify/browser/esm/sync')
  const cells = rows.map((row) =>
    columns.map(({ value }) => {
      const cell = value(row)
      return typeof cell === 'number' ? String(cell) : csvCell('text', cell ?? null)
    }),
  )
  const header = columns.map(({ id }) => id)
  return stringify([header, ...cells], { record_delimiter: '\r\n', quoted_match: /[\r\n]/ })
}
