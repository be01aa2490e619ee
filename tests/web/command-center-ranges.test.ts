import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  customRange,
  customRangeFault,
  fillGaps,
  intervalOf,
  isoOf,
  quarterHourMs,
  rangeOf,
  recentOf,
  type Span,
  startsOf,
} from '../../web/pages/command-center/ranges.ts'

const zone = process.env.TZ
beforeAll(() => {
  process.env.TZ = 'Europe/Berlin'
})
afterAll(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

const at = (iso: string) => Date.parse(iso)
const shown = ({ from, to }: Span) => [isoOf(from), isoOf(to)]
const hour = 3_600_000

describe('the range that an address names', () => {
  const now = at('2026-11-22T10:07:30Z')

  test('24 hours end with the quarter that is in five minutes, and are compared with the day before as far as today is', () => {
    const range = rangeOf({ range: '24h' }, now)
    expect(shown(range)).toEqual(['2026-11-21T10:15:00Z', '2026-11-22T10:15:00Z'])
    expect(shown(range.before)).toEqual(['2026-11-20T10:15:00Z', '2026-11-21T10:15:00Z'])
    expect(rangeOf({ range: '24h' }, at('2026-11-22T10:11:00Z')).to).toBe(at('2026-11-22T10:30:00Z'))
  })

  test('7 days are whole days of the zone with today so far; before are the 7 days up to the same time of day', () => {
    const range = rangeOf({ range: '7d' }, now)
    expect(shown(range)).toEqual(['2026-11-15T23:00:00Z', '2026-11-22T10:15:00Z'])
    expect(shown(range.before)).toEqual(['2026-11-08T23:00:00Z', '2026-11-15T10:15:00Z'])
  })

  test('30 days over the end of summer time begin at midnight of either offset', () => {
    const range = rangeOf({ range: '30d' }, now)
    expect(shown(range)).toEqual(['2026-10-23T22:00:00Z', '2026-11-22T10:15:00Z'])
    expect(shown(range.before)).toEqual(['2026-09-23T22:00:00Z', '2026-10-23T09:15:00Z'])
    expect(rangeOf({}, now)).toEqual(range)
  })

  test('one hour is compared with the hour before as far as this one is', () => {
    const range = rangeOf({ range: '1h' }, now)
    expect(shown(range)).toEqual(['2026-11-22T09:15:00Z', '2026-11-22T10:15:00Z'])
    expect(shown(range.before)).toEqual(['2026-11-22T08:15:00Z', '2026-11-22T09:15:00Z'])
  })

  test('this month begins on its first day, and is compared with as much of the month before', () => {
    const range = rangeOf({ range: 'month' }, now)
    expect(shown(range)).toEqual(['2026-10-31T23:00:00Z', '2026-11-22T10:15:00Z'])
    expect(shown(range.before)).toEqual(['2026-09-30T22:00:00Z', '2026-10-22T09:15:00Z'])
  })

  test('the 31st of a month is not compared with days of the same month', () => {
    const range = rangeOf({ range: 'month' }, at('2026-03-31T12:00:00Z'))
    expect(shown(range.before)).toEqual(['2026-01-31T23:00:00Z', '2026-02-28T23:00:00Z'])
  })

  test('last month is the whole of it, and is compared with the one before', () => {
    const range = rangeOf({ range: 'last-month' }, at('2026-01-05T10:00:00Z'))
    expect(shown(range)).toEqual(['2025-11-30T23:00:00Z', '2025-12-31T23:00:00Z'])
    expect(shown(range.before)).toEqual(['2025-10-31T23:00:00Z', '2025-11-30T23:00:00Z'])
  })

  test('any range is compared with another one of the address', () => {
    const search = { compare_from: '2026-01-01T00:00:00Z', compare_to: '2026-01-08T00:07:00Z' }
    const range = rangeOf({ range: '7d', ...search }, now)
    expect(shown(range)).toEqual(shown(rangeOf({ range: '7d' }, now)))
    expect(shown(range.before)).toEqual(['2026-01-01T00:00:00Z', '2026-01-08T00:15:00Z'])
    expect(rangeOf({ range: '7d', compare_from: search.compare_to, compare_to: search.compare_from }, now)).toEqual(
      rangeOf({ range: '7d' }, now),
    )
  })

  test('a custom one is widened to quarters, and compared with as much just before', () => {
    const range = rangeOf({ range: 'custom', from: '2026-11-01T00:07:00Z', to: '2026-11-01T06:01:00Z' }, now)
    expect(shown(range)).toEqual(['2026-11-01T00:00:00Z', '2026-11-01T06:15:00Z'])
    expect(shown(range.before)).toEqual(['2026-10-31T17:45:00Z', '2026-11-01T00:00:00Z'])
  })

  test.each([
    [{ range: 'custom', from: '2026-11-01T00:00:00Z' }],
    [{ range: 'custom', from: '2026-11-02T00:00:00Z', to: '2026-11-01T00:00:00Z' }],
    [{ range: 'custom', from: 'yesterday', to: 'today' }],
  ] as const)('%j is none, so the default range is shown', (search) => {
    expect(rangeOf(search, now)).toEqual(rangeOf({}, now))
  })

  test.each([
    [{}, undefined],
    [{ range: '24h', from: '2026-11-02T00:00:00Z', to: '2026-11-01T00:00:00Z' }, undefined],
    [{ range: 'custom', from: '2026-11-01T00:07:00Z', to: '2026-11-02T00:00:00Z' }, undefined],
    [{ range: 'custom', from: '2026-11-01T00:00:00Z' }, 'incomplete'],
    [{ range: 'custom', from: '2026-11-02T00:00:00Z', to: '2026-11-01T00:00:00Z' }, 'reversed'],
    [{ range: 'custom', from: '2020-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'long'],
  ] as const)('what is wrong with %j: %s', (search, fault) => {
    expect(customRangeFault(search)).toBe(fault)
  })

  test('all begin and end on a quarter, at whatever time of the day', () => {
    for (let minute = 0; minute < 1440; minute += 7) {
      for (const range of ['24h', '7d', '30d', '90d'] as const) {
        const found = rangeOf({ range }, at('2026-03-29T00:00:00Z') + minute * 60_000)
        for (const ms of [found.from, found.to, found.before.from, found.before.to]) expect(ms % quarterHourMs).toBe(0)
        expect(found.before.to).toBeLessThanOrEqual(found.from)
      }
    }
  })

  test('its last 48 hours are recent; a shorter one is compared with the previous period', () => {
    const month = rangeOf({}, now)
    const { recent, earlier } = recentOf(month)
    expect(shown(recent)).toEqual(['2026-11-20T10:15:00Z', '2026-11-22T10:15:00Z'])
    expect(shown(earlier)).toEqual(['2026-10-23T22:00:00Z', '2026-11-20T10:15:00Z'])
    const day = rangeOf({ range: '24h' }, now)
    expect(recentOf(day)).toEqual({ recent: { from: day.from, to: day.to }, earlier: day.before, isPart: false })
  })

  test('the longest is 900 days', () => {
    const range = customRange(at('2020-01-01T00:00:00Z'), at('2026-01-01T00:00:00Z'))
    expect(range && (range.to - range.from) / (24 * hour)).toBe(900)
  })
})

describe('what is drawn by', () => {
  test.each([
    [1, undefined, 'hour'],
    [8, undefined, 'hour'],
    [9, undefined, 'day'],
    [9, 'hour', 'hour'],
    [40, 'hour', 'hour'],
    [41, 'hour', 'day'],
    [1, 'day', 'day'],
  ] as const)('%i days, chosen %s: %s', (days, chosen, drawn) => {
    expect(intervalOf({ from: 0, to: days * 24 * hour }, chosen)).toBe(drawn)
  })
})

describe('hours and days of a span', () => {
  test('the first day is where the span begins; the day the clock is set back has 25 hours', () => {
    const span = { from: at('2026-10-24T10:15:00Z'), to: at('2026-10-26T12:00:00Z') }
    expect(startsOf(span, 'day').map(isoOf)).toEqual([
      '2026-10-24T10:15:00Z',
      '2026-10-24T22:00:00Z',
      '2026-10-25T23:00:00Z',
    ])
    const day = { from: at('2026-10-24T22:00:00Z'), to: at('2026-10-25T23:00:00Z') }
    expect(startsOf(day, 'hour')).toHaveLength(25)
  })

  test('the day it is set forward has 23', () => {
    const day = { from: at('2026-03-28T23:00:00Z'), to: at('2026-03-29T22:00:00Z') }
    expect(startsOf(day, 'hour')).toHaveLength(23)
  })

  test('of a zone between the hours begin between them', () => {
    process.env.TZ = 'Asia/Kolkata'
    const span = { from: at('2026-11-22T00:15:00Z'), to: at('2026-11-22T02:00:00Z') }
    const starts = startsOf(span, 'hour').map(isoOf)
    process.env.TZ = 'Europe/Berlin'
    expect(starts).toEqual(['2026-11-22T00:15:00Z', '2026-11-22T00:30:00Z', '2026-11-22T01:30:00Z'])
  })

  test('without events have no row, and are there all the same', () => {
    const span = { from: at('2026-11-22T00:00:00Z'), to: at('2026-11-22T03:00:00Z') }
    const row = { start: '2026-11-22T01:00:00.000000Z', invocations: 3 }
    expect(fillGaps([row], span, 'hour')).toEqual([
      { start: span.from, row: undefined },
      { start: span.from + hour, row },
      { start: span.from + 2 * hour, row: undefined },
    ])
  })
})
