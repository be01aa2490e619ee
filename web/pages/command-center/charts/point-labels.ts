import type { Interval } from '../ranges.ts'

const days = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
const hours = new Intl.DateTimeFormat(undefined, {
  ...{ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
})
/** Formats an hour that occurs twice, when the clock is set back, with its offset. */
const hoursWithOffset = new Intl.DateTimeFormat(undefined, {
  ...{ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  timeZoneName: 'shortOffset',
})

/** Returns hours or days as labels. All differ: charts and tables identify points by them. */
export function labelsOf(starts: readonly number[], interval: Interval): string[] {
  const labels = starts.map((start) => (interval === 'day' ? days : hours).format(start))
  const times = Map.groupBy(labels, (label) => label)
  return labels.map((label, index) => (times.get(label)?.length === 1 ? label : hoursWithOffset.format(starts[index])))
}
