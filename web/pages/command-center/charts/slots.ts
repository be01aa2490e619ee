import { fillGaps, type Interval, isoOf, type Span } from '../ranges.ts'
import { labelsOf } from './point-labels.ts'

const shortDays = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const shortHours = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })

/** An hour or a day of a chart. */
export interface Slot {
  start: string
  /** The hour or day as a label. */
  label: string
  /** A shorter label for the axis. */
  tick: string
}

/** Returns each hour or day of a range with its row, if it has one. */
export function slotsOf<TimeRow extends { start?: string }>(
  rows: readonly TimeRow[],
  span: Span,
  interval: Interval,
): { slot: Slot; row: TimeRow | undefined }[] {
  const ticks = span.to - span.from > 36 * 3_600_000 ? shortDays : shortHours
  const filled = fillGaps(rows, span, interval)
  const labels = labelsOf(
    filled.map(({ start }) => start),
    interval,
  )
  return filled.map(({ start, row }, index) => ({
    slot: { start: isoOf(start), label: labels[index] ?? '', tick: ticks.format(start) },
    row,
  }))
}
