import { expect, test } from 'vitest'
import { forecastMicros, type PeriodLength, periodAt } from '../../server/modules/budgets/budget-period.ts'

const hours = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 3_600_000

test.each<[string, PeriodLength, string, string, string, number]>([
  ['2026-01-05T12:00:00Z', 'day', 'UTC', '2026-01-05T00:00:00Z', '2026-01-06T00:00:00Z', 24],
  ['2026-03-29T12:00:00Z', 'day', 'Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', 23],
  ['2026-10-25T12:00:00Z', 'day', 'Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z', 25],
  // Midnight does not exist: the clock goes from 24:00 to 01:00.
  ['2024-09-08T12:00:00Z', 'day', 'America/Santiago', '2024-09-08T04:00:00Z', '2024-09-09T03:00:00Z', 23],
  ['2026-01-05T18:14:59Z', 'day', 'Asia/Kathmandu', '2026-01-04T18:15:00Z', '2026-01-05T18:15:00Z', 24],
  ['2026-01-05T18:15:00Z', 'day', 'Asia/Kathmandu', '2026-01-05T18:15:00Z', '2026-01-06T18:15:00Z', 24],
  ['2026-01-04T23:59:59Z', 'week', 'UTC', '2025-12-29T00:00:00Z', '2026-01-05T00:00:00Z', 168],
  ['2026-01-05T00:00:00Z', 'week', 'UTC', '2026-01-05T00:00:00Z', '2026-01-12T00:00:00Z', 168],
  ['2026-03-27T12:00:00Z', 'week', 'Europe/Berlin', '2026-03-22T23:00:00Z', '2026-03-29T22:00:00Z', 167],
  ['2026-01-31T23:30:00Z', 'month', 'Europe/Berlin', '2026-01-31T23:00:00Z', '2026-02-28T23:00:00Z', 672],
  ['2026-12-31T23:59:59Z', 'month', 'UTC', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z', 744],
])('at %s a %s of %s is %s to %s', (at, length, zone, start, end, count) => {
  const period = periodAt(Date.parse(at), length, zone)
  expect(period).toEqual({ startMs: Date.parse(start), endMs: Date.parse(end) })
  expect(hours(start, end)).toBe(count)
})

test.each<[string, number, bigint]>([
  ['at the beginning 5 % count as elapsed', 0, 200_000_000n],
  ['at 4 % as well', 4, 200_000_000n],
  ['at 10 %', 10, 100_000_000n],
  ['in the middle', 50, 20_000_000n],
  ['at the end it is what was spent', 100, 10_000_000n],
  ['a clock behind does not divide by less', -5, 200_000_000n],
  ['a clock ahead does not divide by more', 150, 10_000_000n],
])('%s', (_name, percent, expected) => {
  expect(forecastMicros(10_000_000n, { startMs: 1000, endMs: 101_000 }, 1000 + percent * 1000)).toBe(expected)
})
