import { expect, test } from 'vitest'
import { spendPoints } from '../../web/pages/budgets/budget-points.ts'

const day = (date: number) => new Date(2026, 10, date)
const row = (date: number, cost: number) => ({
  ...{ start: day(date).toISOString(), invocations: 1, failures: 0, tokens_in: 0, tokens_out: 0, unpriced: 0 },
  ...{ cost_usd_estimate: cost, cost_usd_computed: cost * 2, latency_ms: { p50: 1, p95: 1, p99: 1 } },
})
const budget = {
  ...{ budget_id: 'bud_1', name: 'Support', filter: {}, period: 'month', time_zone: 'UTC', basis: 'reported' },
  ...{ amount_usd: 100, thresholds: [100], notify: { emails: [], webhook_ids: [] }, reached: [] },
  ...{ spent_usd: 6, forecast_usd: 18, period_start: day(1).toISOString(), period_end: day(31).toISOString() },
} as unknown as Parameters<typeof spendPoints>[0]
const half = new Date(2026, 10, 16).getTime()

test('the cost of a period is added up, and a line leads from it to the forecast', () => {
  const points = spendPoints(budget, [row(2, 1), row(4, 5)], half)
  expect(points).toHaveLength(30)
  expect(points.slice(0, 5).map(({ spent }) => spent)).toEqual([0, 1, 1, 6, 6])
  expect(points[14]).not.toHaveProperty('forecast')
  expect(points[15]).toMatchObject({ spent: 6, forecast: 6 })
  expect(points[16]).not.toHaveProperty('spent')
  expect(points.at(-1)?.forecast).toBeCloseTo(18)
  const calculated = spendPoints({ ...budget, basis: 'calculated' }, [row(2, 1)], half)
  expect(calculated[2]?.spent).toBe(2)
})
