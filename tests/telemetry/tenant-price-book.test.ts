import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { usdOfMicros } from '../../contract/money.ts'
import { exactMs, formatTimestamp } from '../../contract/timestamp.ts'
import { createPriceBook } from '../../server/modules/telemetry/prices/list-price-book.ts'
import type { PriceOverride } from '../../server/modules/telemetry/prices/prices-schemas.ts'
import { createTenantPriceBook } from '../../server/modules/telemetry/prices/tenant-prices.ts'

const catalogue = createPriceBook()
const model = 'claude-3-haiku-20240307'
const own = (changes: Partial<PriceOverride> = {}): PriceOverride => ({
  llm_model: model,
  input_usd_per_mtok: 1,
  output_usd_per_mtok: 2,
  effective_from: '2026-01-01T00:00:00.000000Z',
  ...changes,
})
const at = (time: string) => Date.parse(time)

describe('which price', () => {
  const book = createTenantPriceBook(
    [
      own({ input_usd_per_mtok: 30, effective_from: '2026-03-01T00:00:00.000000Z' }),
      own({ input_usd_per_mtok: 10, effective_until: '2026-02-01T00:00:00.000000Z' }),
      own({ input_usd_per_mtok: 50, effective_from: '2026-05-01T00:00:00.000000Z' }),
      own({
        ...{ llm_platform: 'claude', input_usd_per_mtok: 7, effective_from: '2026-01-15T00:00:00.000000Z' },
        effective_until: '2026-03-15T00:00:00.000000Z',
      }),
    ],
    catalogue,
  )
  const listed = 0.25

  test.each([
    ['copilot', '2025-12-31T23:59:59.999Z', listed],
    ['copilot', '2026-01-01T00:00:00.000Z', 10],
    ['copilot', '2026-01-31T23:59:59.999Z', 10],
    ['copilot', '2026-02-01T00:00:00.000Z', listed],
    ['copilot', '2026-03-01T00:00:00.000Z', 30],
    ['copilot', '2026-04-30T23:59:59.999Z', 30],
    ['copilot', '2026-05-01T00:00:00.000Z', 50],
    ['copilot', '2099-01-01T00:00:00.000Z', 50],
    ['claude', '2026-01-14T23:59:59.999Z', 10],
    ['claude', '2026-01-15T00:00:00.000Z', 7],
    ['claude', '2026-02-15T00:00:00.000Z', 7],
    ['claude', '2026-03-14T23:59:59.999Z', 7],
    ['claude', '2026-03-15T00:00:00.000Z', 30],
  ])('on %s at %s is %d', (platform, time, usd) => {
    expect(book.priceOf(platform, model, at(time), 1_000_000, 0)?.costMicros).toBe(usd * 1_000_000)
  })

  test('an end beyond the next beginning is no end of the next', () => {
    const overlapping = createTenantPriceBook(
      [
        own({ effective_until: '2026-12-01T00:00:00.000000Z' }),
        own({
          ...{ input_usd_per_mtok: 5, effective_from: '2026-02-01T00:00:00.000000Z' },
          effective_until: '2026-03-01T00:00:00.000000Z',
        }),
      ],
      catalogue,
    )
    const cost = (time: string) => overlapping.priceOf('claude', model, at(time), 100, 0)?.costMicros
    expect(['2026-01-31T00:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'].map(cost)).toEqual([100, 500, 25])
  })

  test('named with its platform or for any, model and beginning', () => {
    const sourceOf = (platform: string, time: string) => book.priceOf(platform, model, at(time), 1, 1)?.source
    expect(sourceOf('claude', '2026-02-01T00:00:00Z')).toBe(`override:claude/${model}@2026-01-15T00:00:00.000000Z`)
    expect(sourceOf('slack', '2026-05-09T00:00:00Z')).toBe(`override:*/${model}@2026-05-01T00:00:00.000000Z`)
    expect(sourceOf('slack', '2026-02-09T00:00:00Z')).toMatch(/^genai-prices\//)
  })

  test('begins and ends at the microsecond', () => {
    const span = createTenantPriceBook(
      [own({ effective_from: '2026-01-01T00:00:00.000500Z', effective_until: '2026-01-01T00:00:00.000502Z' })],
      catalogue,
    )
    const sources = [499, 500, 501, 502].map((microsOfMs) => {
      const epochMs = exactMs({ epochMs: at('2026-01-01T00:00:00Z'), microsOfMs })
      return span.priceOf('claude', model, epochMs, 1, 1)?.source.split(/[:/]/)[0]
    })
    expect(sources).toEqual(['genai-prices', 'override', 'override', 'genai-prices'])
  })
})

test('why there is no price', () => {
  const book = createTenantPriceBook(
    [
      own({ llm_model: 'home-grown', llm_platform: 'slack', effective_until: '2026-02-01T00:00:00.000000Z' }),
      own({ llm_model: 'text-embedding-3-small', effective_until: '2026-02-01T00:00:00.000000Z' }),
    ],
    catalogue,
  )
  const ask = (platform: string, name: string, time: string, tokensOut = 1) => {
    const question = [platform, name, at(time), 1, tokensOut] as const
    const reason = book.explain(...question)
    expect(book.priceOf(...question) === undefined).toBe(reason !== undefined)
    return reason
  }
  expect(ask('slack', 'home-grown', '2026-01-31T00:00:00Z')).toBeUndefined()
  expect(ask('slack', 'home-grown', '2026-02-01T00:00:00Z')).toBe('no_price_at_ts')
  expect(ask('claude', 'home-grown', '2026-01-31T00:00:00Z')).toBe('unknown_model')
  expect(ask('slack', 'nobody-knows', '2026-01-31T00:00:00Z')).toBe('unknown_model')
  expect(ask('chatgpt', 'text-embedding-3-small', '2026-01-31T00:00:00Z')).toBeUndefined()
  expect(ask('chatgpt', 'text-embedding-3-small', '2026-02-01T00:00:00Z')).toBe('no_price_for_tokens')
  expect(ask('chatgpt', 'text-embedding-3-small', '2026-02-01T00:00:00Z', 0)).toBeUndefined()
})

describe('arithmetic', () => {
  const tokens = fc.oneof(fc.integer({ min: 0, max: 2 ** 31 - 1 }), fc.constantFrom(0, 1, 2 ** 31 - 1))
  /** A price of twelve decimals as the digits of a whole number: at most 15 of them, so a number holds it exactly. */
  const units = fc.oneof(
    fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }).map((digits) => ({ digits, decimals: 12 })),
    fc.bigInt({ min: 0n, max: 10n ** 6n }).map((digits) => ({ digits, decimals: 0 })),
    fc.bigInt({ min: 0n, max: 10n ** 12n }).map((digits) => ({ digits, decimals: 6 })),
  )
  const textOf = ({ digits, decimals }: { digits: bigint; decimals: number }) => {
    const padded = String(digits).padStart(decimals + 1, '0')
    return decimals === 0 ? padded : `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`
  }
  const trillionths = ({ digits, decimals }: { digits: bigint; decimals: number }) =>
    digits * 10n ** BigInt(12 - decimals)

  test('is that of whole numbers, rounded half up', () => {
    fc.assert(
      fc.property(units, units, tokens, tokens, (input, output, tokensIn, tokensOut) => {
        const prices = { input_usd_per_mtok: Number(textOf(input)), output_usd_per_mtok: Number(textOf(output)) }
        const book = createTenantPriceBook([own(prices)], catalogue)
        const sum = BigInt(tokensIn) * trillionths(input) + BigInt(tokensOut) * trillionths(output)
        const whole = sum / 10n ** 12n
        const expected = sum % 10n ** 12n >= 5n * 10n ** 11n ? whole + 1n : whole
        const cost = book.priceOf('claude', model, at('2026-02-01T00:00:00Z'), tokensIn, tokensOut)!.costMicros
        expect(BigInt(cost)).toBe(expected)
      }),
      { numRuns: 2000 },
    )
  })

  test('the largest cost survives as dollars', () => {
    const book = createTenantPriceBook(
      [own({ input_usd_per_mtok: 999_999.999999, output_usd_per_mtok: 1_000_000 })],
      catalogue,
    )
    const cost = book.priceOf('claude', model, at('2026-02-01T00:00:00Z'), 2 ** 31 - 1, 2 ** 31 - 1)!.costMicros
    expect(BigInt(cost)).toBe(
      (999_999_999_999n * (2n ** 31n - 1n) + 500_000n) / 1_000_000n + (2n ** 31n - 1n) * 1_000_000n,
    )
    expect(Math.round(usdOfMicros(cost) * 1_000_000)).toBe(cost)
  })

  test('the span that holds is the one a slow reading of the rule finds', () => {
    const second = fc.integer({ min: 0, max: 12 })
    const spans = fc.uniqueArray(
      fc.record({ from: second, length: fc.option(fc.integer({ min: 1, max: 6 })), platform: fc.boolean() }),
      { selector: ({ from, platform }) => `${from} ${platform}`, maxLength: 12 },
    )
    const timeOf = (seconds: number) => formatTimestamp(seconds * 1000)
    fc.assert(
      fc.property(spans, fc.integer({ min: 0, max: 20 }), (list, now) => {
        const book = createTenantPriceBook(
          list.map(({ from, length, platform }) =>
            own({
              ...(platform ? { llm_platform: 'claude' } : {}),
              effective_from: timeOf(from),
              ...(length === null ? {} : { effective_until: timeOf(from + length) }),
            }),
          ),
          catalogue,
        )
        const holds = (platform: boolean) => {
          const same = list.filter((one) => one.platform === platform)
          return same.find(({ from, length }) => {
            const next = Math.min(...same.map((one) => one.from).filter((other) => other > from))
            return now >= from && now < Math.min(from + (length ?? Number.POSITIVE_INFINITY), next)
          })
        }
        const named = holds(true)
        const found = named ?? holds(false)
        const expected = found && `override:${named ? 'claude' : '*'}/${model}@${timeOf(found.from)}`
        const source = book.priceOf('claude', model, now * 1000, 1, 1)?.source
        expect(source?.startsWith('override:') ? source : undefined).toBe(expected)
      }),
      { numRuns: 1000 },
    )
  })
})
