import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  LatencySketch,
  latencyBinMax,
  latencyBinOf,
  latencyErrorMax,
} from '../../server/modules/telemetry/rollups/latency-sketch.ts'

const shares = [0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1]
const anyLatency = fc.integer({ min: 1, max: 599_999 })
/** As latencies are: most of them short, some very long. */
const skewed = fc.double({ min: 0, max: 1, noNaN: true }).map((at) => Math.ceil(1 + 599_998 * at ** 8))
const latencyLists = fc.oneof(
  fc.array(anyLatency, { minLength: 1, maxLength: 300 }),
  fc.array(skewed, { minLength: 1, maxLength: 300 }),
  fc.tuple(anyLatency, fc.integer({ min: 1, max: 300 })).map(([one, count]) => new Array<number>(count).fill(one)),
)

function sketchOf(latencies: readonly number[]): LatencySketch {
  const sketch = new LatencySketch()
  for (const latency of latencies) sketch.add(latencyBinOf(latency))
  return sketch
}

/** The smallest latency such that a share q of all are not above it. */
function exactQuantile(latencies: readonly number[], q: number): number {
  const sorted = latencies.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]!
}

function expectQuantiles(sketch: LatencySketch, latencies: readonly number[]): void {
  for (const q of shares) {
    const exact = exactQuantile(latencies, q)
    const error = Math.abs(sketch.quantile(q)! - exact) / exact
    expect(error, `quantile ${q} is ${exact}`).toBeLessThanOrEqual(latencyErrorMax)
  }
}

describe('bins', () => {
  test('hold every latency, in order, each within the error', () => {
    let last = 0
    let widest = 0
    for (let latencyMs = 1; latencyMs < 600_000; latencyMs += 1) {
      const bin = latencyBinOf(latencyMs)
      if (bin !== last && bin !== last + 1) throw new Error(`bin ${bin} of ${latencyMs} follows bin ${last}`)
      last = bin
    }
    for (let latencyMs = 1; latencyMs < 600_000; latencyMs += 7) {
      const error = Math.abs(sketchOf([latencyMs]).quantile(0.5)! - latencyMs) / latencyMs
      widest = Math.max(widest, error)
    }
    expect(last).toBe(latencyBinMax)
    expect(widest).toBeLessThanOrEqual(latencyErrorMax)
    expect(latencyErrorMax).toBeLessThan(0.02)
  })

  test('are exact below 128 ms', () => {
    for (let latencyMs = 1; latencyMs < 128; latencyMs += 1) {
      expect(sketchOf([latencyMs]).quantile(0.5)).toBe(latencyMs)
    }
  })
})

describe('a sketch', () => {
  test('knows every quantile within the error', () => {
    fc.assert(fc.property(latencyLists, (latencies) => expectQuantiles(sketchOf(latencies), latencies)))
  })

  test('merged of others is the sketch of all, also through bytes', () => {
    fc.assert(
      fc.property(fc.array(latencyLists, { minLength: 1, maxLength: 6 }), (lists) => {
        const merged = new LatencySketch()
        const read = new LatencySketch()
        for (const list of lists) {
          merged.merge(sketchOf(list))
          read.addBytes(sketchOf(list).toBytes())
        }
        const whole = sketchOf(lists.flat())
        expect(merged.toBytes()).toEqual(whole.toBytes())
        expect(read.toBytes()).toEqual(whole.toBytes())
        expect(read.count).toBe(lists.flat().length)
        expectQuantiles(read, lists.flat())
      }),
    )
  })

  test('of nothing has no quantile', () => {
    expect(new LatencySketch().quantile(0.5)).toBeUndefined()
    expect(LatencySketch.ofBytes(new LatencySketch().toBytes()).count).toBe(0)
  })

  test('keeps counts beyond 2^32', () => {
    const sketch = new LatencySketch()
    sketch.add(latencyBinOf(10), 2 ** 40 + 1)
    sketch.add(latencyBinOf(2000), 2 ** 50)
    const read = LatencySketch.ofBytes(sketch.toBytes())
    expect(read.count).toBe(2 ** 40 + 1 + 2 ** 50)
    expect(read.quantile(0)).toBe(10)
  })

  test('is small: a million latencies of one service take under a kilobyte', () => {
    const sketch = new LatencySketch()
    for (let at = 0; at < 1_000_000; at += 1) sketch.add(latencyBinOf(300 + ((at * 193) % 9000)))
    expect(sketch.toBytes().length).toBeLessThan(1024)
  })

  test.each([
    ['nothing', []],
    ['another version', [2, 2]],
    ['a bin 0', [1, 0]],
    ['a bin too far', [1, 0xff, 0xff, 0x01]],
    ['a number without its end', [1, 0x80]],
    ['a count without its number', [1, 3]],
    ['a number without any end', [1, ...new Array<number>(20).fill(0x80), 1]],
  ])('is not read from %s', (_, bytes) => {
    expect(() => LatencySketch.ofBytes(Uint8Array.from(bytes))).toThrow(RangeError)
  })
})
