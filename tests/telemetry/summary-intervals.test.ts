import { describe, expect, test } from 'vitest'
import { isTimeZone } from '../../server/http/time-zone.ts'
import { quarterHourMs } from '../../server/modules/telemetry/rollups/rollup-types.ts'
import { intervalStarts } from '../../server/modules/telemetry/summary/summary-query.ts'
import type { Interval } from '../../server/modules/telemetry/summary/summary-types.ts'

const quarterOf = (instant: string) => Temporal.Instant.from(instant).epochMilliseconds / quarterHourMs
const rangeOf = (from: string, to: string) => ({ first: quarterOf(from), end: quarterOf(to) })
const textOf = (quarter: number) => Temporal.Instant.fromEpochMilliseconds(quarter * quarterHourMs).toString()
const startsOf = (from: string, to: string, interval: Interval, zone: string) =>
  intervalStarts(rangeOf(from, to), interval, zone).map(textOf)

/** Looks at the local clock at the start of every quarter. */
function expectedStarts(from: string, to: string, interval: Interval, zone: string): string[] {
  const { first, end } = rangeOf(from, to)
  const starts: string[] = []
  let before = ''
  for (let quarter = first; quarter < end; quarter += 1) {
    const local = Temporal.Instant.fromEpochMilliseconds(quarter * quarterHourMs).toZonedDateTimeISO(zone)
    const name =
      interval === 'day' ? local.startOfDay().toString() : `${local.toPlainDate()} ${local.hour} ${local.offset}`
    if (name !== before) starts.push(textOf(quarter))
    before = name
  }
  return starts
}

describe('local hours and days are those that the clock on the wall shows', () => {
  const ranges = [
    ['UTC', '2026-01-01T00:00Z', '2026-01-10T00:00Z'],
    ['Europe/Berlin', '2026-03-27T13:15Z', '2026-03-31T10:45Z'],
    ['Europe/Berlin', '2026-10-23T00:00Z', '2026-10-27T00:00Z'],
    ['Asia/Kathmandu', '2026-03-27T13:15Z', '2026-03-31T10:45Z'],
    ['America/St_Johns', '2026-03-06T00:00Z', '2026-03-10T00:00Z'],
    ['America/St_Johns', '2026-10-30T00:00Z', '2026-11-03T00:00Z'],
    ['Australia/Lord_Howe', '2026-04-03T00:00Z', '2026-04-07T00:00Z'],
    ['Australia/Lord_Howe', '2026-10-02T00:00Z', '2026-10-06T00:00Z'],
    ['Pacific/Apia', '2011-12-28T00:00Z', '2012-01-02T00:00Z'],
    ['America/Sao_Paulo', '2018-11-02T00:00Z', '2018-11-06T00:00Z'],
    ['America/Havana', '2025-11-01T00:00Z', '2025-11-04T00:00Z'],
    ['Asia/Beirut', '2025-10-24T00:00Z', '2025-10-28T00:00Z'],
    ['Africa/Monrovia', '1972-01-05T00:00Z', '1972-01-09T00:00Z'],
    ['Asia/Kolkata', '1905-12-30T00:00Z', '1906-01-03T00:00Z'],
  ] as const
  for (const [zone, from, to] of ranges) {
    for (const interval of ['hour', 'day'] as const) {
      test(`${interval} ${zone} from ${from}`, () => {
        const expected = expectedStarts(from, to, interval, zone)
        expect(startsOf(from, to, interval, zone)).toEqual(expected)
        expect(expected.length).toBeGreaterThan(interval === 'day' ? 3 : 70)
      })
    }
  }
})

test('a day in March has 23 hours in Berlin, one in October 25', () => {
  expect(startsOf('2026-03-28T23:00Z', '2026-03-29T22:00Z', 'hour', 'Europe/Berlin')).toHaveLength(23)
  expect(startsOf('2026-10-24T22:00Z', '2026-10-25T23:00Z', 'hour', 'Europe/Berlin')).toHaveLength(25)
  expect(startsOf('2026-03-28T22:00Z', '2026-03-30T22:15Z', 'day', 'Europe/Berlin')).toEqual([
    '2026-03-28T22:00:00Z',
    '2026-03-28T23:00:00Z',
    '2026-03-29T22:00:00Z',
    '2026-03-30T22:00:00Z',
  ])
})

test('local time that is set by half an hour', () => {
  expect(startsOf('2026-10-03T14:00Z', '2026-10-03T17:00Z', 'hour', 'Australia/Lord_Howe')).toEqual([
    '2026-10-03T14:00:00Z',
    '2026-10-03T14:30:00Z',
    '2026-10-03T15:30:00Z',
    '2026-10-03T16:00:00Z',
  ])
})

test('a midnight that comes twice begins one day', () => {
  // At 00:01 the clock went back to 23:01.
  expect(startsOf('2010-11-05T12:00Z', '2010-11-08T12:00Z', 'day', 'America/St_Johns')).toEqual([
    '2010-11-05T12:00:00Z',
    '2010-11-06T02:30:00Z',
    '2010-11-07T02:30:00Z',
    '2010-11-08T03:30:00Z',
  ])
})

test('a quarter belongs to the day that it begins in, where the clock was off by seconds', () => {
  // Until 1972 Monrovia was 44 minutes 30 seconds behind UTC.
  expect(startsOf('1970-05-01T00:00Z', '1970-05-02T12:00Z', 'day', 'Africa/Monrovia')).toEqual([
    '1970-05-01T00:00:00Z',
    '1970-05-01T00:45:00Z',
    '1970-05-02T00:45:00Z',
  ])
})

test('a thousand years take no longer than their intervals', () => {
  const starts = intervalStarts(rangeOf('1500-01-01T00:00Z', '2500-01-01T00:00Z'), 'day', 'Europe/London')
  // London was 75 seconds behind UTC: the first quarter is of the day before.
  expect(starts).toHaveLength(365_243 + 1)
  expect(new Set(starts).size).toBe(starts.length)
})

test.each([
  ['UTC', true],
  ['Europe/Berlin', true],
  ['europe/berlin', true],
  ['Etc/GMT+5', true],
  ['America/Argentina/Buenos_Aires', true],
  ['Mars/Olympus', false],
  ['+05:30', false],
  ['Z', false],
  ['', false],
  ['2026-01-01T00:00[Europe/Berlin]', false],
  ['Europe/Berlin; drop', false],
])('%s is a time zone: %s', (name, expected) => {
  expect(isTimeZone(name)).toBe(expected)
})
