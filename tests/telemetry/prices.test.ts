import { calcPrice, findProvider } from '@pydantic/genai-prices'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPriceBook } from '../../server/modules/telemetry/prices/list-price-book.ts'

const book = createPriceBook()
const at = (time: string) => Date.parse(time)
const million = 1_000_000

/** US dollars per million tokens of input and output, by the book. */
function ratesOf(platform: string, model: string, time: string): [number?, number?] {
  const input = book.priceOf(platform, model, at(time), million, 0)?.costMicros
  const output = book.priceOf(platform, model, at(time), 0, million)?.costMicros
  return [input, output].map((micros) => (micros === undefined ? undefined : micros / million)) as [number?, number?]
}

describe('known prices', () => {
  // OpenAI cut the price of o3 by 80 % on 10 June 2025.
  test.each([
    ['2025-04-20T00:00:00Z', 10, 40],
    ['2025-06-09T23:59:59.999Z', 10, 40],
    ['2025-06-10T00:00:00.000Z', 2, 8],
    ['2026-01-05T09:30:00Z', 2, 8],
  ])('o3 at %s', (time, input, output) => {
    expect(book.priceOf('chatgpt', 'o3', at(time), million, million)?.costMicros).toBe((input + output) * million)
  })

  test.each([
    ['claude', 'claude-3-haiku-20240307', 0.25, 1.25],
    ['chatgpt', 'gpt-4o-mini', 0.15, 0.6],
    ['gemini', 'gemini-2.0-flash', 0.1, 0.4],
  ])('%s %s', (platform, model, input, output) => {
    expect(book.priceOf(platform, model, at('2026-01-05T00:00:00Z'), 3 * million, million)?.costMicros).toBe(
      Math.round((3 * input + output) * million),
    )
  })

  test('a request beyond 200,000 tokens of input pays the higher rate for all of its tokens', () => {
    const price = (tokensIn: number) =>
      book.priceOf('claude', 'claude-sonnet-4-5', at('2026-01-05T00:00:00Z'), tokensIn, 1000)?.costMicros
    expect(price(200_000)).toBe(200_000 * 3 + 1000 * 15)
    expect(price(200_001)).toBe(200_001 * 6 + 1000 * 22.5)
  })

  test('prices by the hour of the day', () => {
    expect(ratesOf('custom:own', 'deepseek-chat', '2026-01-05T00:29:59Z')).toEqual([0.135, 0.55])
    expect(ratesOf('custom:own', 'deepseek-chat', '2026-01-05T00:30:00Z')).toEqual([0.27, 1.1])
    expect(ratesOf('custom:own', 'deepseek-chat', '2026-01-05T16:30:00Z')).toEqual([0.135, 0.55])
    expect(ratesOf('custom:own', 'deepseek-chat', '1969-12-31T12:00:00Z')).toEqual([0.27, 1.1])
  })
})

describe('whose price', () => {
  const sourceOf = (platform: string, model: string) =>
    book.priceOf(platform, model, at('2026-01-05T00:00:00Z'), 1, 1)?.source

  test('the vendor of the platform, else the model alone', () => {
    expect(sourceOf('claude', 'claude-3-haiku')).toMatch(/^genai-prices\/\d+\.\d+\.\d+:anthropic\/claude-3-haiku$/)
    expect(sourceOf('claude', 'gpt-4o')).toMatch(/:openai\/gpt-4o$/)
    for (const platform of ['copilot', 'slack', 'custom:acme', 'custom:constructor']) {
      expect(sourceOf(platform, 'gpt-4o')).toMatch(/:openai\/gpt-4o$/)
      expect(sourceOf(platform, 'gemini-2.0-flash')).toMatch(/:google\//)
    }
  })

  test('no price for a model that nobody has heard of, nor for tokens it does not sell', () => {
    expect(sourceOf('claude', 'home-grown-7b')).toBeUndefined()
    expect(book.priceOf('chatgpt', 'text-embedding-3-small', at('2026-01-05T00:00:00Z'), million, 0)?.costMicros).toBe(
      20_000,
    )
    expect(book.priceOf('chatgpt', 'text-embedding-3-small', at('2026-01-05T00:00:00Z'), million, 1)).toBeUndefined()
  })

  test('what was said of a model holds for every spelling asked later', () => {
    expect(sourceOf('chatgpt', 'GPT-4o')).toBe(sourceOf('chatgpt', 'gpt-4o'))
  })
})

test('before the first price that is known there is none', () => {
  const prices = (usd: number) => ({ input_mtok: usd, output_mtok: usd })
  const model = {
    id: 'new',
    match: { equals: 'new' },
    prices: [
      { constraint: { type: 'start_date' as const, start_date: '2025-03-01' }, prices: prices(5) },
      { constraint: { type: 'start_date' as const, start_date: '2025-06-01' }, prices: prices(4) },
    ],
  }
  const provider = { id: 'own', name: 'Own', api_pattern: '.*', models: [model] }
  const dated = createPriceBook((usage, id, options) => calcPrice(usage, id, { ...options, provider }))
  const cost = (time: string) => dated.priceOf('custom:own', 'new', at(time), 100, 0)?.costMicros
  expect(['2025-02-28T23:59:59.999Z', '2025-03-01T00:00:00Z', '2025-06-01T00:00:00Z'].map(cost)).toEqual([
    undefined,
    500,
    400,
  ])
})

describe('arithmetic', () => {
  test('rounds half up at the sixth decimal', () => {
    const micros = (tokensIn: number) => book.priceOf('chatgpt', 'gpt-4o-mini', 0, tokensIn, 0)?.costMicros
    expect([0, 1, 3, 4, 10, 11].map(micros)).toEqual([0, 0, 0, 1, 2, 2])
  })

  test('is exact up to the largest counts', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 31 - 1 }),
        fc.integer({ min: 0, max: 2 ** 31 - 1 }),
        (tokensIn, tokensOut) => {
          // 0.25 and 1.25 dollars per million: quarters of a micro-dollar per token.
          const quarters = BigInt(tokensIn) + 5n * BigInt(tokensOut)
          expect(book.priceOf('claude', 'claude-3-haiku', 0, tokensIn, tokensOut)?.costMicros).toBe(
            Number((quarters + 2n) / 4n),
          )
        },
      ),
    )
  })

  test('agrees with the catalogue’s own calculation for its models, times and sizes', () => {
    const models = ['anthropic', 'openai', 'google', 'deepseek', 'mistral'].flatMap((providerId) =>
      findProvider({ providerId })!.models.map((model) => ({ providerId, id: model.id })),
    )
    expect(models.length).toBeGreaterThan(150)
    const platforms: Record<string, string> = { anthropic: 'claude', openai: 'chatgpt', google: 'gemini' }
    let priced = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...models),
        fc.integer({ min: at('2023-01-01T00:00:00Z'), max: at('2028-01-01T00:00:00Z') }),
        fc.integer({ min: 0, max: 600_000 }),
        fc.integer({ min: 0, max: 600_000 }),
        ({ providerId, id }, epochMs, tokensIn, tokensOut) => {
          const platform = platforms[providerId]
          const ours = book.priceOf(platform ?? 'custom:x', id, epochMs, tokensIn, tokensOut)
          const theirs = calcPrice({ input_tokens: tokensIn, output_tokens: tokensOut }, id, {
            ...(platform ? { providerId } : {}),
            timestamp: new Date(epochMs),
          })
          if (!ours) return
          priced++
          expect(Math.abs(ours.costMicros - (theirs!.input_price + theirs!.output_price) * million)).toBeLessThan(0.51)
          expect(ours.source).toMatch(new RegExp(`:${theirs!.provider.id}/`))
        },
      ),
      { numRuns: 2000 },
    )
    expect(priced).toBeGreaterThan(1500)
  })
})
