import { dimensions, type Filters, shownKey } from './breakdown/dimensions.ts'
import type { Span } from './ranges.ts'

const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** Returns a range in the user's time zone. */
export function rangeText({ from, to }: Span): string {
  return times.formatRange(from, to)
}

/** Returns the begin or end of a range, in the user's time zone. */
export function momentText(ms: number): string {
  return times.format(ms)
}

/** Returns the range and filters of metrics, for use outside the page. */
export function metricsOf(span: Span, filters: Filters): string {
  const narrowed = dimensions.flatMap(({ group, field, label }) =>
    filters[field] === undefined ? [] : [`${label}: ${shownKey(group, filters[field])}`],
  )
  return [rangeText(span), ...narrowed].join(' · ')
}

/** Returns the first and the last day for file names, in the user's time zone. */
export function daysOf({ from, to }: Span): string {
  return `${dayOf(from)}-to-${dayOf(to - 1)}`
}

function dayOf(ms: number): string {
  const date = new Date(ms)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
