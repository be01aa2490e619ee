import { afterAll, beforeAll, expect, test, vi } from 'vitest'

/** The figures of a German browser: formats are made as the file is read. */
let formats: typeof import('../../web/ui/formats.ts')
beforeAll(async () => {
  class GermanFormat extends Intl.NumberFormat {
    constructor(_locale: unknown, options?: Intl.NumberFormatOptions) {
      super('de-DE', options)
    }
  }
  vi.spyOn(Intl, 'NumberFormat').mockImplementation(GermanFormat as typeof Intl.NumberFormat)
  formats = await import('../../web/ui/formats.ts')
})
afterAll(() => vi.restoreAllMocks())

test.each([
  [812, '812 ms'],
  [4640, '4,64 s'],
  [12_340, '12,3 s'],
  [125_000, '2 min 5 s'],
])('%d milliseconds have the decimal mark of the reader', (ms, text) => {
  expect(formats.formatMs(ms)).toBe(text)
})

test('and so have points, and seconds along an axis', () => {
  expect(formats.formatPoints(0.0331)).toBe('3,3')
  expect(formats.formatSeconds(250)).toBe('0,25 s')
  expect(formats.formatSeconds(60_000)).toBe('60 s')
})

test('what is less than nothing has a minus, not a hyphen', () => {
  expect(formats.formatUsd(-0.4)).toBe('−0,40\u00a0$')
  expect(formats.formatPercent(-0.012)).toBe('−1,2\u00a0%')
})

test('dollars in columns have four digits below one, and no minus before zero', () => {
  expect([0.02, 0.002839, -0.001, -0.000_004].map(formats.formatUsdInColumn)).toEqual([
    '0,0200\u00a0$',
    '0,0028\u00a0$',
    '−0,0010\u00a0$',
    '0,0000\u00a0$',
  ])
})
