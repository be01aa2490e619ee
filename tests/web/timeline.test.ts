import { expect, test } from 'vitest'
import { timelineOf } from '../../web/pages/sessions/timeline.ts'

const step = (ts: string, latency_ms: number) =>
  ({ record_id: ts, depth: 0, ts, offset_ms: 0, latency_ms, skill_id: 'sum-up' }) as never
const totals = (started_at: string, ended_at: string) => ({
  ...{ started_at, ended_at, events: 2, failures: 1, tokens_in: 10, tokens_out: 5 },
  ...{ cost_usd_estimate: 0.5, cost_usd_computed: 0.25, unpriced: 1 },
})

test('steps have their place on one axis, over all loaded pages', () => {
  const {
    steps,
    durationMs,
    totals: all,
    unreadable,
  } = timelineOf([
    {
      totals: totals('2026-01-05T09:00:02.000000Z', '2026-01-05T09:00:10.000000Z'),
      steps: [step('2026-01-05T09:00:02.000000Z', 4000), step('2026-01-05T09:00:10.000000Z', 0)],
      unreadable: 1,
    },
    {
      totals: totals('2026-01-05T09:00:00.000000Z', '2026-01-05T09:00:01.000000Z'),
      steps: [step('2026-01-05T09:00:00.000000Z', 1000)],
      unreadable: 0,
    },
  ])
  expect(durationMs).toBe(10_000)
  expect(all).toMatchObject({ events: 4, failures: 2, cost_usd_estimate: 1, unpriced: 2 })
  expect(unreadable).toBe(1)
  expect(steps.map(({ startMs, left, width }) => [startMs, left, width])).toEqual([
    [2000, 0.2, 0.4],
    [10_000, 0.996, expect.closeTo(0.004)],
    [0, 0, 0.1],
  ])
})

test('a single step without a duration fills the axis, and no step is no timeline', () => {
  const at = '2026-01-05T09:00:00.000000Z'
  const one = timelineOf([{ totals: totals(at, at), steps: [step(at, 0)], unreadable: 0 }])
  expect(one.steps[0]).toMatchObject({ left: 0, width: 1 })
  expect(timelineOf([{ steps: [], unreadable: 2 }])).toEqual({
    steps: [],
    totals: undefined,
    durationMs: 0,
    unreadable: 2,
  })
})
