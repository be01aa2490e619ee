import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Cells, ExactSum, Metrics } from '../../server/modules/telemetry/rollups/rollup-cells.ts'
import {
  type CostDifference,
  deltaOf,
  deltaOfDifferences,
  readDelta,
  UnreadableDelta,
} from '../../server/modules/telemetry/rollups/rollup-delta.ts'
import { quarterHourMs } from '../../server/modules/telemetry/rollups/rollup-types.ts'
import type { CountedEvent } from '../../server/modules/telemetry/telemetry-types.ts'
import { expectedRows, type Rows, rowsOf } from './rollup-oracle.ts'

const firstMs = Date.parse('0001-01-01T00:00:00Z')
const lastMs = Date.parse('9999-12-31T23:59:59.999Z')
const oneOf = <T>(...values: T[]) => fc.constantFrom(...values)
/** At the edges of quarters, over all years. */
const anyTime = fc.oneof(
  fc.integer({ min: firstMs, max: lastMs }),
  fc
    .tuple(fc.integer({ min: -3, max: 3 }), oneOf(-1, 0, 1))
    .map(([quarter, offset]) => quarter * quarterHourMs + offset),
)
const micros = fc.oneof(fc.integer({ min: 0, max: 1000 }), oneOf(10 ** 15, 10 ** 15 - 1))
const anyEvent: fc.Arbitrary<CountedEvent> = fc.record({
  skillId: oneOf('sum-up', 'reply', '__proto__', 'analyst'),
  archetypeId: oneOf('analyst', 'constructor'),
  userId: oneOf('user:a', 'user:b', 'user:ü"\\'),
  platform: oneOf('claude', 'custom:x'),
  model: oneOf('m', 'n', undefined),
  epochMs: anyTime,
  errorCode: oneOf('timeout', 'rate_limited', undefined),
  latencyMs: fc.integer({ min: 1, max: 599_999 }),
  tokensIn: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  tokensOut: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  costEstimateMicros: micros,
  costComputedMicros: fc.option(micros, { nil: undefined }),
})
const event: CountedEvent = {
  skillId: 'sum-up',
  archetypeId: 'analyst',
  userId: 'user:kim',
  platform: 'claude',
  model: 'm',
  epochMs: 0,
  errorCode: undefined,
  latencyMs: 1200,
  tokensIn: 10,
  tokensOut: 20,
  costEstimateMicros: 5,
  costComputedMicros: 7,
}

function readRows(...texts: string[]): Rows {
  const cells = new Cells()
  for (const text of texts) {
    for (const { quarter, dimensions, addTo } of readDelta(text)) addTo(cells.metricsOf('all', quarter, dimensions))
  }
  return rowsOf(cells)
}

const expectedAll = (events: readonly CountedEvent[]): Rows =>
  new Map([...expectedRows(events)].filter(([place]) => place.startsWith('["all"')))

describe('a delta', () => {
  test('says what the events add up to, in groups of any size', () => {
    fc.assert(
      fc.property(fc.array(fc.array(anyEvent, { maxLength: 80 }), { maxLength: 4 }), (groups) => {
        expect(readRows(...groups.map(deltaOf))).toEqual(expectedAll(groups.flat()))
      }),
    )
  })

  test('is exact for a thousand of the largest costs', () => {
    const events = new Array<CountedEvent>(1000).fill({ ...event, costEstimateMicros: 10 ** 15 - 1 })
    const text = deltaOf(events)
    expect(readRows(text)).toEqual(expectedAll(events))
    expect([...readRows(text).values()][0]).toContain(` ${1000n * (10n ** 15n - 1n)} `)
    // Nine of them fit into one entry.
    expect(readDelta(text).length).toBe(112)
  })

  test('has one entry for events of one cell, whatever is between them', () => {
    const events = Array.from({ length: 1000 }, (_, at) => ({ ...event, userId: `user:${at % 7}` }))
    expect(readDelta(deltaOf(events)).length).toBe(7)
  })

  test('keeps thousands of cells apart', () => {
    const events = Array.from({ length: 5000 }, (_, at) => ({
      ...event,
      userId: `user:${at}`,
      epochMs: (at % 50) * quarterHourMs,
    }))
    expect(readRows(deltaOf(events))).toEqual(expectedAll(events))
  })

  test('of corrections adds no invocation, and takes costs back', () => {
    const change = (costComputedMicros: number, unpriced: number): CostDifference => {
      const { skillId, archetypeId, userId, platform, model, errorCode, epochMs } = event
      return { skillId, archetypeId, userId, platform, model, errorCode, epochMs, costComputedMicros, unpriced }
    }
    const [rated, unrated] = [event, { ...event, costComputedMicros: undefined }]
    const corrections = deltaOfDifferences([change(-7, 1), change(9, -1), change(10 ** 15, 0), change(-(10 ** 15), 0)])
    expect(readRows(deltaOf([rated, unrated]), corrections)).toEqual(
      expectedAll([
        { ...event, costComputedMicros: undefined },
        { ...event, costComputedMicros: 9 },
      ]),
    )
    expect(readDelta(deltaOfDifferences([change(-7, 1)]))[0]?.dimensions).toEqual(
      readDelta(deltaOf([event]))[0]?.dimensions,
    )
  })

  test('of the earlier version counts failures without an error code', () => {
    const delta = JSON.parse(deltaOf([{ ...event, errorCode: 'timeout' }])) as { v: number; e: number[][] }
    const former = JSON.stringify({ ...delta, v: 1, e: delta.e.map((entry) => entry.toSpliced(5, 1)) })
    const [entry] = readDelta(former)
    const metrics = new Metrics()
    entry?.addTo(metrics)
    expect(entry?.dimensions).toMatchObject({ error_code: null, llm_model: 'm' })
    expect(metrics).toMatchObject({ invocations: 1, failures: 1, unpriced: 0 })
  })

  test('of nothing reads as nothing', () => expect(readDelta(deltaOf([]))).toEqual([]))
})

describe('what is no delta is told apart before a part of it is counted', () => {
  const whole = JSON.parse(deltaOf([event])) as { v: number; q: number; s: string[]; e: number[][] }
  const entry = whole.e[0]!
  const withEntry = (...changes: [number, unknown][]) => {
    const changed: unknown[] = [...entry]
    for (const [place, value] of changes) changed[place] = value
    return { ...whole, e: [entry, changed] }
  }
  test.each<[string, unknown]>([
    ['another version', { ...whole, v: 3 }],
    ['null', null],
    ['a number', 7],
    ['no strings', { ...whole, s: undefined }],
    ['names that are none', { ...whole, s: [1, 2, 3, 4, 5] }],
    ['no quarter', { ...whole, q: 1.5 }],
    ['a short entry', { ...whole, e: [entry.slice(0, 13)] }],
    ['an entry without its latency', { ...whole, e: [entry.slice(0, 14)] }],
    ['a latency too much', { ...whole, e: [[...entry, 1]] }],
    ['a name that is not there', withEntry([2, 5])],
    ['no user', withEntry([2, -1])],
    ['an error code that is not there', withEntry([5, 5])],
    ['entries of the earlier version that are none', { ...whole, v: 1, e: 7 }],
    ['half an amount', withEntry([11, 0.5])],
    ['an amount that is not exact', withEntry([11, 2 ** 53])],
    ['a bin that is none', withEntry([14, 0])],
    ['an invalid entry', { ...whole, e: [{}] }],
  ])('%s', (_, value) => {
    expect(() => readDelta(JSON.stringify(value))).toThrow(UnreadableDelta)
  })

  test('what is not JSON', () => expect(() => readDelta('{')).toThrow(UnreadableDelta))
})

test('sums are exact whatever is added', () => {
  const big = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n })
  const safe = fc.integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER })
  fc.assert(
    fc.property(fc.array(big), fc.array(safe), fc.array(safe), (exact, numbers, others) => {
      const sum = new ExactSum()
      const other = new ExactSum()
      for (const value of exact) sum.addExact(value)
      for (const value of numbers) sum.add(value)
      for (const value of others) other.add(value)
      sum.merge(other)
      const all = [...exact, ...[...numbers, ...others].map(BigInt)]
      expect(sum.value).toBe(all.reduce((a, b) => a + b, 0n))
    }),
  )
})
