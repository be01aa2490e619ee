import { csvOf } from './csv-text.ts'
import type { MetricColumn } from './metric-columns.ts'
import { saveFile } from './save-file.ts'

/** Saves values as `<name>.csv`. */
export async function saveCsv<Row>(
  name: string,
  columns: readonly MetricColumn<Row>[],
  rows: readonly Row[],
): Promise<void> {
  saveFile(`${name}.csv`, new Blob([await csvOf(columns, rows)], { type: 'text/csv;charset=utf-8' }))
}
