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
  /** RFC 3339, as in the Hub's responses. */
  iso: string
  /** The form: `ago` is relative to now; `minute` omits the seconds, `date` the time of day. */
  form?: 'full' | 'minute' | 'date' | 'ago'
}

/** Shows a point in time in the user's time zone. The tooltip has the stored value: UTC, to the microsecond. */
export function TimeText({ iso, form = 'full' }: TimeTextProps) {
  // A forged record may contain an invalid time, which is shown unchanged.
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

/** Returns a relative time: in 3 hours, 2 minutes ago, just now */
export function timeFromNow(iso: string, nowMs: number): string {
  const distance = new Date(iso).getTime() - nowMs
  const [unit, length] = units.find(([, ms]) => Math.abs(distance) >= ms) ?? []
  // The clock is coarse: a recent event may seem to be ahead of it.
  if (!unit || !length) return distance > everyMs ? 'in less than a minute' : 'just now'
  return relative.format(Math.trunc(distance / length), unit)
}

/** Returns a time as text, for places without elements: labels of charts, messages. */
export function formatTime(iso: string): string {
  return dateTimes.format(new Date(iso))
}
