import type { Interval } from '../ranges.ts'

const days = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
const hours = new Intl.DateTimeFormat(undefined, {
  ...{ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
})
/** An hour that comes twice, when the clock is set back, is told apart by its offset. */
const hoursWithOffset = new Intl.DateTimeFormat(undefined, {
  ...{ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  timeZoneName: 'shortOffset',
})

/** Hours or days as people read them. Each is another: charts and tables know points by them. */
export function labelsOf(starts: readonly number[], interval: Interval): string[] {
  const labels = starts.map((start) => (interval === 'day' ? days : hours).format(start))
  const times = Map.groupBy(labels, (label) => label)
  return labels.map((label, index) => (times.get(label)?.length === 1 ? label : hoursWithOffset.format(starts[index])))
}
