import fc from 'fast-check'
import { expect, test } from 'vitest'
import { quarterHoursPerDay } from '../../server/modules/telemetry/rollups/rollup-types.ts'
import { spansOf } from '../../server/modules/telemetry/summary/summary-ranges.ts'

const ranges = fc
  .tuple(
    fc.integer({ min: -500, max: 500 }),
    fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 }),
  )
  .map(([first, lengths]) => {
    let at = first
    return lengths.map((length) => {
      const range = { first: at, end: at + length }
      at += length
      return range
    })
  })
const openDays = fc
  .uniqueArray(fc.integer({ min: -10, max: 45 }), { maxLength: 10 })
  .map((days) => days.sort((a, b) => a - b))

test('every quarter is read once, by its day wherever that may be', () => {
  fc.assert(
    fc.property(ranges, openDays, (parts, open) => {
      const spans = spansOf(parts, open)
      const grainOf = new Map<number, string>()
      for (const { grain, first, end } of spans) {
        if (grain === 'day')
          expect([Math.abs(first % quarterHoursPerDay), Math.abs(end % quarterHoursPerDay)]).toEqual([0, 0])
        for (let quarter = first; quarter < end; quarter += 1) {
          expect(grainOf.has(quarter)).toBe(false)
          grainOf.set(quarter, grain)
        }
      }
      for (const { first, end } of parts) {
        for (let quarter = first; quarter < end; quarter += 1) {
          const day = Math.floor(quarter / quarterHoursPerDay)
          const isWhole = day * quarterHoursPerDay >= first && (day + 1) * quarterHoursPerDay <= end
          expect(grainOf.get(quarter)).toBe(isWhole && !open.includes(day) ? 'day' : 'quarter')
          grainOf.delete(quarter)
        }
      }
      expect(grainOf.size).toBe(0)
    }),
  )
})

test('adjoining ranges are read as one', () => {
  const days = Array.from({ length: 30 }, (_, day) => ({ first: day * 96, end: (day + 1) * 96 }))
  expect(spansOf(days, [])).toEqual([{ grain: 'day', first: 0, end: 2880 }])
  expect(spansOf(days, [29])).toEqual([
    { grain: 'day', first: 0, end: 2784 },
    { grain: 'quarter', first: 2784, end: 2880 },
  ])
  const hours = Array.from({ length: 48 }, (_, hour) => ({ first: hour * 4, end: hour * 4 + 4 }))
  expect(spansOf(hours, [])).toEqual([{ grain: 'quarter', first: 0, end: 192 }])
  expect(spansOf([{ first: -40_000_000, end: 40_000_000 }], [])).toHaveLength(3)
})
