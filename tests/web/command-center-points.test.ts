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
