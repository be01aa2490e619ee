import type { Span } from '../ranges.ts'
import type { Slot } from './slots.ts'

/**
 * Returns the range from one hour or day of a chart to another one, in either order and with both; undefined for a
 * single one, which is a click.
 *
 * @param end of the chart's range
 */
export function zoomSpan(
  slots: readonly Pick<Slot, 'start' | 'label'>[],
  one: string,
  other: string,
  end: number,
): Span | undefined {
  const ends = [one, other].map((label) => slots.findIndex((slot) => slot.label === label))
  const [first, last] = [Math.min(...ends), Math.max(...ends)]
  if (first < 0 || first === last) return undefined
  const after = slots[last + 1]
  return { from: Date.parse(slots[first]!.start), to: after ? Date.parse(after.start) : end }
}
