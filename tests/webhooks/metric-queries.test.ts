import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AlertFindings, type Candidate, TopCandidates } from '../../server/modules/webhooks/alerts/alert-findings.ts'
import { countMetrics, queryMetrics } from '../../server/modules/webhooks/alerts/metric-queries.ts'
import type { AlertRule, Endpoint } from '../../server/modules/webhooks/webhooks-types.ts'

const bySkill: AlertRule = { metric: 'error_rate', group_by: 'skill', above: 0.2, window_minutes: 15 }
const endpoint = (webhookId: string, alerts: AlertRule[], change: Partial<Endpoint> = {}) =>
  ({
    webhookId,
    url: '',
    events: [],
    filters: {},
    thresholds: {},
    alerts,
    enabled: true,
    updatedAt: '',
    ...change,
  }) as Endpoint
const readings = (endpoints: Endpoint[]) => queryMetrics(endpoints, async () => {})

test('one reading serves all endpoints, windows and metrics of the same groups', async () => {
  const rules = Array.from({ length: 50 }, (_, at): AlertRule => ({ ...bySkill, window_minutes: 15 * (at + 1) }))
  const endpoints = Array.from({ length: 100 }, (_, at) => endpoint(`whk_${at}`, rules))
  const [reading, ...others] = await readings(endpoints)
  expect([reading!.watches.length, others.length, countMetrics(endpoints)]).toEqual([5000, 0, 1])
})

test('filters by what is grouped by need no reading of their own, other filters one for all that are the same', async () => {
  const rules = (['user', 'skill', 'archetype'] as const).map((group_by): AlertRule => ({ ...bySkill, group_by }))
  const endpoints = [
    endpoint('whk_a', rules),
    endpoint('whk_b', rules, { filters: { skill_ids: ['x', 'y'] } }),
    endpoint('whk_c', rules, { filters: { skill_ids: ['y', 'x'] } }),
    endpoint('whk_d', rules, { filters: { archetype_ids: ['x'] } }),
    endpoint('whk_e', rules, { enabled: false, filters: { skill_ids: ['z'] } }),
  ]
  const seen = (await readings(endpoints)).map(({ scope, watches }) => [
    scope.groupBy,
    scope.skillIds?.join() ?? scope.archetypeIds?.join(),
    watches.map(({ webhookId, keys }) => `${webhookId.at(-1)}${keys ? [...keys].sort().join('') : ''}`).join(' '),
  ])
  expect(seen).toEqual([
    ['skill', undefined, 'a bxy cxy'],
    ['skill', 'x', 'd'],
    ['archetype', undefined, 'a dx'],
    ['archetype', 'x,y', 'b c'],
    ['user', undefined, 'a'],
    ['user', 'x,y', 'b c'],
    ['user', 'x', 'd'],
  ])
  // Those of the one that is disabled count for the limit.
  expect(countMetrics(endpoints)).toBe(9)
})

test('each rule finds the groups that exceed it, and each alert its own, however many share the reading', async () => {
  const rule = (above: number, change: Partial<AlertRule> = {}): AlertRule => ({ ...bySkill, above, ...change })
  const [reading] = await readings([
    endpoint('whk_a', [
      rule(0.5),
      rule(0.1),
      rule(0.1, { window_minutes: 30 }),
      rule(900, { metric: 'latency_p95_ms' }),
    ]),
    endpoint('whk_b', [rule(0.1)], { filters: { skill_ids: ['two'] } }),
  ])
  const findings = new AlertFindings(reading!.watches)
  expect(findings.windowMinutes).toEqual([30, 15])
  const { ruleId } = reading!.watches[1]!
  findings.addOpen({ webhookId: 'whk_a', ruleId, key: 'one' })
  const group = { invocations: 100, failures: 30, costUsd: 0, latencyP95Ms: 1000 }
  findings.take('one', 1, group, 7)
  findings.take('one', 0, { ...group, failures: 40 }, 7)
  findings.take('two', 1, { ...group, invocations: 19 }, 7)
  findings.take('two', 1, { ...group, failures: 60 }, 7)
  const found = (id: string) =>
    findings.endpoints
      .get(id)!
      .worst.inOrder()
      .map(({ key, value, watch }) => [key, value, watch.rule.above])
  expect(found('whk_a')).toEqual([
    ['two', 0.6, 0.1],
    ['one', 0.4, 0.1],
    ['two', 0.6, 0.5],
    ['one', 1000, 900],
    ['two', 1000, 900],
  ])
  expect(found('whk_b')).toEqual([['two', 0.6, 0.1]])
  expect([...findings.endpoints.get('whk_a')!.sights]).toEqual([
    [`${ruleId} one`, { value: 0.3, invocations: 100, atMs: 7 }],
  ])
})

test('the worst are the worst, whatever comes in whatever order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 200 }),
      fc.integer({ min: 1, max: 8 }),
      (all, max) => {
        const worst = new TopCandidates(max)
        for (const [at, excess] of all.entries())
          if (worst.wants(excess)) worst.add({ excess, key: String(at) } as Candidate)
        const expected = all.map((excess, at) => ({ excess, key: String(at) })).toSorted((a, b) => b.excess - a.excess)
        expect(worst.inOrder()).toEqual(expected.slice(0, max))
        expect(worst.isEmpty).toBe(all.length === 0)
      },
    ),
  )
})
