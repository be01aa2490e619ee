import { dimensions, type Filters, shownKey } from './breakdown/dimensions.ts'
import type { Span } from './ranges.ts'

const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** A range by the clock of the reader. */
export function rangeText({ from, to }: Span): string {
  return times.formatRange(from, to)
}

/** When a range begins or ends, by the clock of the reader. */
export function momentText(ms: number): string {
  return times.format(ms)
}

/** What figures are of, where they stand apart from the page: their range and filters. */
export function metricsOf(span: Span, filters: Filters): string {
  const narrowed = dimensions.flatMap(({ group, field, label }) =>
    filters[field] === undefined ? [] : [`${label}: ${shownKey(group, filters[field])}`],
  )
  return [rangeText(span), ...narrowed].join(' · ')
}

/** For names of files: the first and the last day, by the clock of the reader. */
export function daysOf({ from, to }: Span): string {
  return `${dayOf(from)}-to-${dayOf(to - 1)}`
}

function dayOf(ms: number): string {
  const date = new Date(ms)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
