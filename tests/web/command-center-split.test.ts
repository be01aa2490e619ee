import { describe, expect, test } from 'vitest'
import { splitCost } from '../../web/pages/command-center/charts/cost-split.ts'
import { zoomSpan } from '../../web/pages/command-center/charts/zoom.ts'

const at = (hour: number) => Date.parse(`2026-11-02T${String(hour).padStart(2, '0')}:00:00Z`)
const iso = (hour: number) => new Date(at(hour)).toISOString()
const span = { from: at(8), to: at(11) }

describe('the cost by key', () => {
  const row = (key: string, hour: number, cost_usd_estimate: number) => ({
    ...{ key, start: iso(hour), cost_usd_estimate, cost_usd_computed: 0, unpriced: 0, invocations: 1, failures: 0 },
    ...{ tokens_in: 0, tokens_out: 0, latency_ms: { p50: 1, p95: 1, p99: 1 } },
  })

  test('has the highest first, hours without events, and the sum of the others', () => {
    const rows = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key, index) => row(key, 8, index + 1)).concat(row('g', 10, 5))
    const { series, points } = splitCost(rows, span, 'hour')
    expect(series.map(({ label }) => label)).toEqual(['g', 'f', 'e', 'd', 'c', 'Other'])
    expect(points).toHaveLength(3)
    expect(points[0]).toMatchObject({ s0: 7, s1: 6, s2: 5, s3: 4, s4: 3, s5: 3 })
    expect(points[1]).toMatchObject({ s0: 0, s5: 0 })
    expect(points[2]).toMatchObject({ s0: 5, s5: 0 })
  })

  test('has no others if all are shown', () => {
    const { series } = splitCost([row('a', 8, 1), row('b', 9, 2)], span, 'hour')
    expect(series.map(({ label }) => label)).toEqual(['b', 'a'])
  })
})

describe('the range selected by dragging', () => {
  const slots = [8, 9, 10].map((hour) => ({ start: iso(hour), label: `${hour}:00` }))

  test('has both ends, in either direction', () => {
    expect(zoomSpan(slots, '8:00', '9:00', span.to)).toEqual({ from: at(8), to: at(10) })
    expect(zoomSpan(slots, '9:00', '8:00', span.to)).toEqual({ from: at(8), to: at(10) })
  })

  test('ends with the chart after its last hour', () => {
    expect(zoomSpan(slots, '9:00', '10:00', span.to)).toEqual({ from: at(9), to: span.to })
  })

  test('is none for a click, or a label that the chart does not have', () => {
    expect(zoomSpan(slots, '9:00', '9:00', span.to)).toBeUndefined()
    expect(zoomSpan(slots, '9:00', 'tomorrow', span.to)).toBeUndefined()
  })
})
