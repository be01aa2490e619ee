import { type Grain, quarterHoursPerDay } from '../rollups/rollup-types.ts'
import type { QuarterRange } from './summary-types.ts'

/** A range that is read from the rows of one grain. */
export interface GrainRange extends QuarterRange {
  grain: Grain
}

/**
 * Covers adjoining ranges, in order, by the fewest possible rows: rows of days for a whole UTC day within one range
 * that is not open, else rows of quarters.
 *
 * @param openDays days since 1970, ascending
 */
export function spansOf(ranges: readonly QuarterRange[], openDays: readonly number[]): GrainRange[] {
  const spans: GrainRange[] = []
  const cover = (grain: Grain, first: number, end: number) => {
    if (first >= end) return
    const last = spans.at(-1)
    if (last?.grain === grain && last.end === first) last.end = end
    else spans.push({ grain, first, end })
  }
  let at = 0
  for (const { first, end } of ranges) {
    const endDay = Math.floor(end / quarterHoursPerDay)
    let day = Math.ceil(first / quarterHoursPerDay)
    let covered = first
    while (day < endDay) {
      while (at < openDays.length && openDays[at]! < day) at += 1
      const open = Math.min(openDays[at] ?? endDay, endDay)
      if (open > day) {
        cover('quarter', covered, day * quarterHoursPerDay)
        cover('day', day * quarterHoursPerDay, open * quarterHoursPerDay)
        covered = open * quarterHoursPerDay
      }
      day = open + 1
    }
    cover('quarter', covered, end)
  }
  return spans
}
