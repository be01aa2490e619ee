import { everyMs, useNow } from './use-now.ts'

const dateTimes = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const minutes = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const formats = { full: dateTimes, minute: minutes, date: dates }
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'long' })

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

export interface TimeTextProps {
  /** RFC 3339, as the Hub writes it. */
  iso: string
  /** `ago` says how long ago or ahead; `minute` leaves the seconds out, `date` the time of day. */
  form?: 'full' | 'minute' | 'date' | 'ago'
}

/** A moment in the time zone of whoever reads it. Hovering shows it as it is stored: UTC, to the microsecond. */
export function TimeText({ iso, form = 'full' }: TimeTextProps) {
  // Of a record that somebody made up: what is not a time is shown as it is.
  if (Number.isNaN(Date.parse(iso))) return String(iso)
  return (
    <time dateTime={iso} dir="auto" title={iso.replace('T', ' ').replace('Z', ' UTC')}>
      {form === 'ago' ? <Ago iso={iso} /> : formats[form].format(new Date(iso))}
    </time>
  )
}

function Ago({ iso }: { iso: string }) {
  const now = useNow()
  return timeFromNow(iso, now)
}

/** in 3 hours, 2 minutes ago, just now */
export function timeFromNow(iso: string, nowMs: number): string {
  const distance = new Date(iso).getTime() - nowMs
  const [unit, length] = units.find(([, ms]) => Math.abs(distance) >= ms) ?? []
  // The clock is coarse: what has just happened may seem to be ahead of it.
  if (!unit || !length) return distance > everyMs ? 'in less than a minute' : 'just now'
  return relative.format(Math.trunc(distance / length), unit)
}

/** As text, where no element can stand: labels of charts, messages. */
export function formatTime(iso: string): string {
  return dateTimes.format(new Date(iso))
}
