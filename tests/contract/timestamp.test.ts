import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatTimestamp, parseTimestamp } from '../../contract/timestamp.ts'

describe('parseTimestamp', () => {
  test.each([
    ['2026-03-14T09:26:53Z', '2026-03-14T09:26:53.000000Z'],
    ['2026-03-14t09:26:53.5z', '2026-03-14T09:26:53.500000Z'],
    ['2026-03-14T09:26:53.5897932Z', '2026-03-14T09:26:53.589793Z'],
    ['2026-03-14T09:26:53.9999999Z', '2026-03-14T09:26:53.999999Z'],
    ['2026-03-14T09:26:53.123456+05:30', '2026-03-14T03:56:53.123456Z'],
    ['2026-12-31T23:59:59-00:01', '2027-01-01T00:00:59.000000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000000Z'],
    ['1969-12-31T23:59:59.000001Z', '1969-12-31T23:59:59.000001Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
    // Leap seconds: RFC 3339, section 5.8 has the second and the third.
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000000Z'],
    ['1990-12-31T23:59:60Z', '1991-01-01T00:00:00.000000Z'],
    ['1990-12-31T15:59:60-08:00', '1991-01-01T00:00:00.000000Z'],
    ['1972-06-30t23:59:60.999999999z', '1972-07-01T00:00:00.000000Z'],
    ['1960-12-31T23:59:60Z', '1961-01-01T00:00:00.000000Z'],
  ])('%s is %s', (input, text) => {
    expect(parseTimestamp(input)?.text).toBe(text)
  })

  test.each([
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2016-12-31T22:59:60Z',
    '2016-12-31T23:58:60Z',
    '2016-12-31T23:59:60+01:00',
    '2016-12-31T23:59:61Z',
    '9999-12-31T23:59:60Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+05:60',
    '2026-01-01T00:00:00',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00+0530',
    '2026-01-01T00:00:00Z ',
    '2026-01-01T00:00:00Z\n',
    '12026-01-01T00:00:00Z',
    '0000-12-31T00:00:00Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '٢٠٢٦-01-01T00:00:00Z',
    '',
    'now',
  ])('refuses %j', (input) => {
    expect(parseTimestamp(input)).toBeUndefined()
  })

  test('every microsecond and offset is kept, and the text form reads back as itself', () => {
    const epochMs = fc.integer({ min: -62_135_510_400_000, max: 253_402_214_399_999 })
    fc.assert(
      fc.property(
        epochMs,
        fc.integer({ min: 0, max: 999 }),
        fc.integer({ min: -1439, max: 1439 }),
        (ms, micros, offset) => {
          const text = formatTimestamp(ms, micros)
          expect(parseTimestamp(text)).toEqual({ text, epochMs: ms, microsOfMs: micros })
          const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60].map((n) =>
            String(n).padStart(2, '0'),
          )
          const local = formatTimestamp(ms + offset * 60_000, micros)
          const withOffset = local.replace('Z', `${offset < 0 ? '-' : '+'}${hours}:${minutes}`)
          expect(parseTimestamp(withOffset)?.text).toBe(text)
        },
      ),
    )
  })
})
