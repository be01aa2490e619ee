import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startsOf } from '../../web/pages/command-center/ranges.ts'

const zone = process.env.TZ
let labelsOf: typeof import('../../web/pages/command-center/charts/point-labels.ts').labelsOf
beforeAll(async () => {
  // Formats take the zone that there is as the file is read.
  process.env.TZ = 'America/St_Johns'
  vi.resetModules()
  labelsOf = (await import('../../web/pages/command-center/charts/point-labels.ts')).labelsOf
})
afterAll(() => {
  vi.resetModules()
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

test('the hour that comes twice when the clock is set back has two names', () => {
  const span = { from: Date.parse('2026-11-01T02:30:00Z'), to: Date.parse('2026-11-02T03:30:00Z') }
  const labels = labelsOf(startsOf(span, 'hour'), 'hour')
  expect(labels).toHaveLength(25)
  expect(new Set(labels).size).toBe(25)
  expect(labels.filter((label) => label.includes('GMT'))).toHaveLength(2)
})

test('the previous period stands beside the range from its first hour, and may be shorter', async () => {
  const { pointsOf } = await import('../../web/pages/command-center/charts/points.ts')
  const before = { from: Date.parse('2026-10-01T08:30:00Z'), to: Date.parse('2026-10-01T10:30:00Z') }
  const range = { from: Date.parse('2026-11-10T12:30:00Z'), to: Date.parse('2026-11-10T15:30:00Z'), before }
  const row = {
    ...{ invocations: 3, failures: 1, tokens_in: 10, tokens_out: 4, unpriced: 0 },
    ...{ cost_usd_estimate: 0.5, cost_usd_computed: 0.4, latency_ms: { p50: 1, p95: 2, p99: 3 } },
  }
  const points = pointsOf([], range, 'hour', [{ start: '2026-10-01T09:30:00.000000Z', ...row }])
  expect(points.map(({ previousInvocations }) => previousInvocations)).toEqual([0, 3, undefined])
  expect(points[0]).not.toMatchObject({ previousP95: expect.anything() })
  expect(points[1]).toMatchObject({ invocations: 0, previousP95: 2, previousCost: 0.5, previousTokens: 14 })
  expect(pointsOf([], range, 'hour', [])[1]).not.toHaveProperty('previous')
})
