import type { ColumnFrom } from './table-columns.ts'

/** A column of values for tables and files. */
export interface MetricColumn<Row> {
  /** The name in files, such as `latency_p95_ms`. */
  id: string
  /** The header in tables. */
  label: string
  /** Returns the value for files: exact, times in RFC 3339; undefined if absent. */
  value(row: Row): string | number | undefined
  /** Returns the text for people; defaults to the value. */
  text?(row: Row): string
  /** The minimum screen width that shows the column. */
  from?: ColumnFrom
}

/** Widths of a letter in pixels, rounded up: digits and headers are wider than words. */
const letter = { word: 7.4, figure: 8.4 }

/** Returns the width of a column for a number of letters, in pixels. */
export function metricWidth(letters: number, kind: keyof typeof letter = 'figure'): number {
  return 24 + Math.ceil(letters * letter[kind])
}
