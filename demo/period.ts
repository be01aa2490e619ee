export const demoDays = 30
export const quarterHourMs = 15 * 60_000

/** A quarter of an hour of the demo, or the elapsed part of the last one. */
export interface Slot {
  startMs: number
  endMs: number
  /** 0 is the first of the 30 days, 29 the last. */
  day: number
  /** The hour of the local clock. */
  hour: number
  isWeekend: boolean
}

/** The 30 local days that end at a time, with the points in time of the story. All else derives from these. */
export interface DemoPeriod {
  startMs: number
  endMs: number
  timeZone: string
  slots: readonly Slot[]
  /** Start of the negotiated price: ten days before the last day. */
  priceMs: number
  /** Start of the dearer model for engineers: six days before the last day. */
  moveMs: number
  /** Start of the skill's failures: the morning of the day before the last. */
  failingMs: number
  /** End of a skill's use: fourteen days before the last day. */
  quietMs: number
}

const daysBefore = { price: 10, move: 6, failing: 1, quiet: 14 } as const
const rolloutHour = 7

/**
 * Lays out the 30 local days, today among them, that end at `end`. The first day begins at midnight.
 * @param timeZone IANA name, such as `Europe/Berlin`
 */
export function periodEnding(end: Date, timeZone: string): DemoPeriod {
  const endMs = end.getTime()
  const slots = slotsBefore(endMs, timeZone)
  const last = demoDays - 1
  const from = (day: number, hour = 0) => slots.find((slot) => slot.day === day && slot.hour >= hour)?.startMs ?? endMs
  return {
    startMs: slots[0]?.startMs ?? endMs,
    endMs,
    timeZone,
    slots,
    priceMs: from(last - daysBefore.price),
    moveMs: from(last - daysBefore.move),
    failingMs: from(last - daysBefore.failing, rolloutHour),
    quietMs: from(last - daysBefore.quiet),
  }
}

/** Walks back from the end, so that a clock change affects only its own hours. */
function slotsBefore(endMs: number, timeZone: string): Slot[] {
  const clock = localClock(timeZone)
  const found: (Omit<Slot, 'day'> & { daysBack: number })[] = []
  let date: string | undefined
  let daysBack = -1
  for (let startMs = Math.floor((endMs - 1) / quarterHourMs) * quarterHourMs; ; startMs -= quarterHourMs) {
    const local = clock(startMs)
    if (local.date !== date) daysBack += 1
    if (daysBack === demoDays) break
    date = local.date
    const { hour, isWeekend } = local
    found.push({ startMs, endMs: Math.min(startMs + quarterHourMs, endMs), hour, isWeekend, daysBack })
  }
  return found.reverse().map(({ daysBack: back, ...slot }) => ({ ...slot, day: demoDays - 1 - back }))
}

function localClock(timeZone: string): (ms: number) => { date: string; hour: number; isWeekend: boolean } {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
  })
  return (ms) => {
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]))
    return {
      date: `${parts.year}-${parts.month}-${parts.day}`,
      hour: Number(parts.hour),
      isWeekend: parts.weekday === 'Sat' || parts.weekday === 'Sun',
    }
  }
}

/** Formats microseconds since the epoch as RFC 3339 in UTC with six fractional digits. */
export function timeOf(micros: number): string {
  const milliseconds = Math.floor(micros / 1000)
  return new Date(milliseconds).toISOString().replace('Z', `${String(micros - milliseconds * 1000).padStart(3, '0')}Z`)
}
