import { beforeAll, expect, test, vi } from 'vitest'

type Formats = typeof import('../../web/ui/formats.ts')

/** As a browser of a language has them: formats are made as the file is read. */
async function formatsIn(language: string): Promise<Formats> {
  class FormatOf extends Intl.NumberFormat {
    constructor(_locale: unknown, options?: Intl.NumberFormatOptions) {
      super(language, options)
    }
  }
  vi.resetModules()
  const mocked = vi.spyOn(Intl, 'NumberFormat').mockImplementation(FormatOf as typeof Intl.NumberFormat)
  try {
    return await import('../../web/ui/formats.ts')
  } finally {
    mocked.mockRestore()
  }
}

let formats: Formats
beforeAll(async () => {
  formats = await formatsIn('de-DE')
})

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

test('dollars in columns have four digits, and no minus before zero', () => {
  expect([0.02, 0.002839, -0.001, -0.000_004].map(formats.formatUsdInColumn)).toEqual([
    '0,0200\u00a0$',
    '0,0028\u00a0$',
    '−0,0010\u00a0$',
    '0,0000\u00a0$',
  ])
})

test('dollars in columns: nothing is no zero, and large amounts are whole', () => {
  expect(formats.formatUsdInColumn(undefined)).toBe('—')
  expect(formats.formatUsdInColumn(0)).toBe('0,0000\u00a0$')
  expect(formats.formatUsdInColumn(-123_456_789_012.5)).toBe('−123.456.789.012,5000\u00a0$')
  expect(formats.formatUsdInFull(0.000_000_3)).toBe('0,0000003\u00a0$')
})

test.each([
  ['en-GB', ['999', '12.3k', '5.1M', '123.5bn']],
  ['en-US', ['999', '12.3k', '5.1M', '123.5B']],
  ['de-DE', ['999', '12.300', '5,1\u00a0Mio.', '123,5\u00a0Mrd.']],
])('short numbers in %s', async (language, texts) => {
  const { formatShort } = await formatsIn(language)
  expect([999, 12_300, 5_100_000, 123_456_789_012].map(formatShort)).toEqual(texts)
})
