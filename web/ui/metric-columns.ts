import type { ColumnFrom } from './table-columns.ts'

/** A column of figures, as a table shows it and as a file has it. */
export interface MetricColumn<Row> {
  /** Name in files, such as `latency_p95_ms`. */
  id: string
  /** Head in tables. */
  label: string
  /** As it stands in a file: exact, times in RFC 3339; undefined where there is none. */
  value(row: Row): string | number | undefined
  /** As people read it; the value itself if absent. */
  text?(row: Row): string
  /** Narrower screens leave it out. */
  from?: ColumnFrom
}

/** Widths of a letter, in pixels, on the safe side: figures and heads are wider than words. */
const letter = { word: 7.4, figure: 8.4 }

/** Of a column with so many letters at most, in pixels. */
export function metricWidth(letters: number, kind: keyof typeof letter = 'figure'): number {
  return 24 + Math.ceil(letters * letter[kind])
}
