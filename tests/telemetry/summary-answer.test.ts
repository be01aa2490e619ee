import { expect, test } from 'vitest'
import { latencyBinOf } from '../../server/modules/telemetry/rollups/latency-sketch.ts'
import { Metrics } from '../../server/modules/telemetry/rollups/rollup-cells.ts'
import {
  reconciliationNumbers,
  summaryNumbers,
  usdOfExactMicros,
} from '../../server/modules/telemetry/summary/summary-response.ts'

test.each([
  [0n, '0'],
  [1n, '0.000001'],
  [-1n, '-0.000001'],
  [-152n, '-0.000152'],
  [1_000_000n, '1'],
  [10_752_013n, '10.752013'],
  [-10_752_013n, '-10.752013'],
  [2n ** 53n + 1n, '9007199254.740993'],
  [48_380_632_713_888_441n, '48380632713.88844'],
  [10n ** 21n + 1n, '1000000000000000'],
])('%s micro-dollars are %s', (micros, json) => {
  expect(JSON.stringify(usdOfExactMicros(micros))).toBe(json)
})

test('every amount that a number of micro-dollars holds is written as it is', () => {
  for (let micros = 1n; micros < 2n ** 53n; micros = micros * 3n + 1n) {
    const text = String(micros).padStart(7, '0')
    const exact = `${text.slice(0, -6)}.${text.slice(-6)}`.replace(/\.?0+$/, '')
    expect(JSON.stringify(usdOfExactMicros(micros)).replace('1e-7', '0.0000001')).toBe(exact)
  }
})

function metricsOf(estimate: bigint, computed: bigint, ...latencies: number[]): Metrics {
  const metrics = new Metrics()
  metrics.costEstimate.addExact(estimate)
  metrics.costComputed.addExact(computed)
  for (const latencyMs of latencies) metrics.latency.add(latencyBinOf(latencyMs))
  return metrics
}

test('percentiles are by nearest rank', () => {
  const ofTen = metricsOf(0n, 0n, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
  expect(summaryNumbers(ofTen).latency_ms).toEqual({ p50: 50, p95: 100, p99: 100 })
  const ofHundred = metricsOf(0n, 0n, ...Array.from({ length: 100 }, (_, at) => at + 1))
  expect(summaryNumbers(ofHundred).latency_ms).toEqual({ p50: 50, p95: 95, p99: 99 })
  expect(summaryNumbers(metricsOf(0n, 0n, 1)).latency_ms).toEqual({ p50: 1, p95: 1, p99: 1 })
})

test.each([
  [3_600_000n, 1500n, 3.5985, 2399],
  [100n, 252n, -0.000152, -0.603175],
  [5n, 5n, 0, 0],
  [0n, 7n, -0.000007, -1],
  [10n ** 18n, 3n * 10n ** 18n, -2_000_000_000_000, -0.666667],
])('an estimate of %s to %s computed', (estimate, computed, variance, ratio) => {
  const { variance_usd, variance_ratio } = reconciliationNumbers(metricsOf(estimate, computed))
  expect([variance_usd, variance_ratio]).toEqual([variance, ratio])
})

test('there is no ratio to nothing', () => {
  expect(reconciliationNumbers(metricsOf(16_000n, 0n))).toEqual({
    ...{ invocations: 0, unpriced: 0, cost_usd_estimate: 0.016, cost_usd_computed: 0, variance_usd: 0.016 },
  })
})
