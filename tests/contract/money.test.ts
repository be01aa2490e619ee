import fc from 'fast-check'
import { expect, test } from 'vitest'
import { costUsdMax, microsOfUsd, roundUsd, usdOfMicros } from '../../contract/money.ts'

test.each([
  [0, 0],
  [-0, 0],
  [0.000001, 1],
  [0.0000005, 1],
  [0.00000049999999, 0],
  [1e-300, 0],
  [1.0000005, 1_000_001],
  [1.00000049999, 1_000_000],
  [0.1234565, 123_457],
  [1.005, 1_005_000],
  [0.1 + 0.2, 300_000],
  [999_999_999.999999, 999_999_999_999_999],
  [costUsdMax, 1_000_000_000_000_000],
])('%d dollars are %d micro-dollars', (usd, micros) => {
  expect(microsOfUsd(usd)).toBe(micros)
})

test.each([-0.000001, costUsdMax + 0.000001, 1e21, Number.NaN, Number.POSITIVE_INFINITY])('%d is refused', (usd) => {
  expect(() => microsOfUsd(usd)).toThrow(RangeError)
})

test('an amount of whole micro-dollars survives as a number, and is written with at most six decimals', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000_000_000_000 }), (micros) => {
      const usd = usdOfMicros(micros)
      expect(microsOfUsd(usd)).toBe(micros)
      expect(roundUsd(usd)).toBe(usd)
      if (usd >= 1e-6) expect(String(usd)).toMatch(/^\d+(\.\d{1,6})?$/)
    }),
  )
})

test('the decimal that was written is rounded half up, whatever the binary number nearest to it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 999_999 }),
      fc.integer({ min: 0, max: 999_999 }),
      fc.integer({ min: 0, max: 9 }),
      (whole, micros, next) => {
        const text = `${whole}.${String(micros).padStart(6, '0')}${next}`
        expect(microsOfUsd(Number(text))).toBe(whole * 1_000_000 + micros + (next >= 5 ? 1 : 0))
      },
    ),
  )
})
