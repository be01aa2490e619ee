/** RFC 3339 timestamps. Out: UTC, exactly six fractional digits, `Z`. In: any offset and precision. */

export interface Timestamp {
  /** `YYYY-MM-DDTHH:MM:SS.ffffffZ` */
  text: string
  /** Whole milliseconds since the epoch, rounded down. */
  epochMs: number
  /** Microseconds beyond `epochMs`, 0..999. Apart, because the sum leaves the safe integers in the year 2255. */
  microsOfMs: number
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/
const daysOfMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const daySeconds = 86_400
const dayMs = daySeconds * 1000
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
const firstEpochMs = Date.parse('0001-01-01T00:00:00Z')
const lastEpochMs = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Reads a timestamp (RFC 3339, section 5.6), or returns undefined for any other text. Cuts digits past the sixth.
 * Reads a leap second (23:59:60 in UTC, with any fraction) as the first instant of the next minute. Refuses second 60 of
 * any other minute, and times outside the years 1 to 9999 in UTC.
 */
export function parseTimestamp(input: string): Timestamp | undefined {
  const known = timeInLastSecond(input)
  if (known !== undefined) return known
  const parts = rfc3339.exec(input)
  if (parts === null) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour = '0', offsetMinute = '0'] = parts
  if (!isDate(Number(year), Number(month), Number(day))) return undefined
  const isLeap = second === '60'
  if (Number(hour) > 23 || Number(minute) > 59 || (Number(second) > 59 && !isLeap)) return undefined
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined

  const sixDigits = isLeap ? '000000' : fraction.slice(0, 6).padEnd(6, '0')
  const wholeSecond = isLeap ? '59' : second
  const localMs =
    Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${wholeSecond}.${sixDigits.slice(0, 3)}Z`) +
    (isLeap ? 1000 : 0)
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000
  const epochMs = sign === '-' ? localMs + offsetMs : localMs - offsetMs
  if (epochMs < firstEpochMs || epochMs > lastEpochMs) return undefined
  if (isLeap && epochMs % dayMs !== 0) return undefined
  const microsOfMs = Number(sixDigits.slice(3))
  return { text: formatTimestamp(epochMs, microsOfMs), epochMs, microsOfMs }
}

/** `epochMs` is a whole number, `microsOfMs` is 0..999. */
export function formatTimestamp(epochMs: number, microsOfMs = 0): string {
  const second = Math.floor(epochMs / 1000)
  const micros = (epochMs - second * 1000) * 1000 + microsOfMs
  return `${textOfSecond(second)}.${String(micros).padStart(6, '0')}Z`
}

// Timestamps come in runs of the same second and day, and a date takes longer to write than all the rest.
let lastSecond = 0
let lastSecondText = '1970-01-01T00:00:00'
let lastDay = 0
let lastDayText = '1970-01-01T'

function textOfSecond(second: number): string {
  if (second !== lastSecond) {
    const day = Math.floor(second / daySeconds)
    if (day !== lastDay) {
      lastDayText = new Date(day * dayMs).toISOString().slice(0, -13)
      lastDay = day
    }
    const ofDay = second - day * daySeconds
    const [minutes, hours] = [Math.floor(ofDay / 60) % 60, Math.floor(ofDay / 3600)]
    lastSecondText = `${lastDayText}${twoDigits[hours]!}:${twoDigits[minutes]!}:${twoDigits[ofDay % 60]!}`
    lastSecond = second
  }
  return lastSecondText
}

/** The time of `YYYY-MM-DDTHH:MM:SS(.d+)Z` in the second that was formatted last, or undefined for any other. */
function timeInLastSecond(input: string): Timestamp | undefined {
  const digitsEnd = input.length - 1
  if (!input.startsWith(lastSecondText) || input.charCodeAt(digitsEnd) !== letterZ) return undefined
  let micros = 0
  let weight = 100_000
  if (digitsEnd > 19) {
    if (digitsEnd === 20 || input.charCodeAt(19) !== dot) return undefined
    for (let at = 20; at < digitsEnd; at++) {
      const digit = input.charCodeAt(at) - 0x30
      if (!(digit >= 0 && digit <= 9)) return undefined
      micros += digit * Math.floor(weight)
      weight /= 10
    }
  }
  const epochMs = lastSecond * 1000 + Math.floor(micros / 1000)
  return { text: formatTimestamp(epochMs, micros % 1000), epochMs, microsOfMs: micros % 1000 }
}

const letterZ = 0x5a
const dot = 0x2e

function isDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1 || day > daysOfMonth[month - 1]!) return false
  return month !== 2 || day < 29 || (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0))
}

/**
 * Returns milliseconds since 1970 with the microseconds as a fraction, so that times compare by the microsecond: a
 * number distinguishes them until the year 2248.
 */
export function exactMs({ epochMs, microsOfMs }: { epochMs: number; microsOfMs: number }): number {
  return epochMs + microsOfMs / 1000
}
