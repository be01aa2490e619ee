import { terminalText } from './terminal-text.ts'

/** A column: its heading, and how a row fills it. */
export interface Column<Row> {
  heading: string
  value(row: Row): unknown
  /** True for numbers. */
  isRight?: boolean
}

const gap = '  '
const segments = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** East Asian wide characters and emoji, which take two cells. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}|[\u{20000}-\u{3fffd}]/u

/**
 * Returns a table for people, whose last column is shortened to the width of the terminal.
 *
 * @param width cells of a line; undefined shortens nothing
 */
export function textTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width?: number): string {
  const cells = [
    columns.map(({ heading }) => heading),
    ...rows.map((row) => columns.map(({ value }) => cellText(value(row)))),
  ]
  const widths = columns.map((_, index) => cells.reduce((most, line) => Math.max(most, cellsOf(line[index]!)), 0))
  return cells.map((line) => lineOf(line, columns, widths, width)).join('\n')
}

/** Returns the width for {@link textTable}: that of the terminal, or undefined if stdout is none. */
export function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined
}

function lineOf<Row>(
  line: readonly string[],
  columns: readonly Column<Row>[],
  widths: readonly number[],
  width: number | undefined,
): string {
  const padded = line.map((text, index) => {
    const padding = ' '.repeat(widths[index]! - cellsOf(text))
    return columns[index]!.isRight ? padding + text : text + padding
  })
  return shortened(padded.join(gap).trimEnd(), width)
}

/** Returns a value for a cell. Absent ones are empty. */
function cellText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return terminalText(typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : String(value))
}

function shortened(text: string, width: number | undefined): string {
  if (width === undefined || cellsOf(text) <= width) return text
  let kept = ''
  let cells = 0
  for (const { segment } of segments.segment(text)) {
    cells += cellsOfCharacter(segment)
    if (cells > width - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

function cellsOf(text: string): number {
  let cells = 0
  for (const { segment } of segments.segment(text)) cells += cellsOfCharacter(segment)
  return cells
}

function cellsOfCharacter(character: string): number {
  return wide.test(character) ? 2 : 1
}
