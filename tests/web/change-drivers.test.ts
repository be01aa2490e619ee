import { expect, test } from 'vitest'
import { driversOf } from '../../web/pages/command-center/change-drivers.ts'
import type { Row } from '../../web/pages/command-center/use-metrics.ts'

const row = (key: string | undefined, cost: number, failures = 0, p95 = 100, invocations = 100) =>
  ({
    ...(key !== undefined && { key }),
    ...{ cost_usd_estimate: cost, failures, invocations, latency_ms: { p50: p95, p95, p99: p95 } },
  }) as Row

test('the largest differences come first, in either direction, three at most', () => {
  const now = [row('a', 5), row('b', 1), row('c', 2), row('same', 3), row('new', 4)]
  const before = [row('a', 4), row('b', 9), row('c', 1.5), row('same', 3), row('gone', 2)]
  expect(driversOf('cost', now, before)).toEqual([
    { key: 'b', now: 1, before: 9 },
    { key: 'new', now: 4, before: 0 },
    { key: 'gone', now: 0, before: 2 },
  ])
})

test('failures are counted apart from cost, and events without the dimension have no key to filter by', () => {
  expect(driversOf('failures', [row('a', 1, 7), row(undefined, 9, 90)], [row('a', 9, 2)])).toEqual([
    { key: 'a', now: 7, before: 2 },
  ])
})

test('a percentile needs twenty invocations in both periods', () => {
  const now = [row('few', 0, 0, 900, 19), row('enough', 0, 0, 300, 20), row('new', 0, 0, 800)]
  const before = [row('few', 0, 0, 100), row('enough', 0, 0, 200, 20)]
  expect(driversOf('latency', now, before)).toEqual([{ key: 'enough', now: 300, before: 200 }])
})

test('nothing changed, or nothing is known', () => {
  expect(driversOf('cost', [row('a', 1)], [row('a', 1)])).toEqual([])
  expect(driversOf('cost', [], [])).toEqual([])
})
