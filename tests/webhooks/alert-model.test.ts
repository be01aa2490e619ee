import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type AlertInstance,
  afterEvaluation,
  shouldOpen,
  type WholeRule,
} from '../../server/modules/webhooks/alerts/alert-rules.ts'

const minuteMs = 60_000
interface Look {
  atMs: number
  value: number
  invocations: number
}

const rules = fc.record({
  metric: fc.constantFrom('error_rate' as const, 'latency_p95_ms' as const, 'cost_usd_per_hour' as const),
  group_by: fc.constant('skill' as const),
  above: fc.integer({ min: 0, max: 6 }),
  recovers_at: fc.integer({ min: 0, max: 8 }),
  window_minutes: fc.constantFrom(15, 30, 60),
  min_invocations: fc.integer({ min: 1, max: 5 }),
})
const looks = fc
  .array(
    fc.record({
      pauseMinutes: fc.oneof(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 100 })),
      value: fc.integer({ min: 0, max: 8 }),
      invocations: fc.integer({ min: 0, max: 8 }),
    }),
    { maxLength: 60 },
  )
  .map((list) => {
    let atMs = 0
    return list.map(({ pauseMinutes, value, invocations }): Look => {
      atMs += pauseMinutes * minuteMs
      return { atMs, value: invocations === 0 ? 0 : value, invocations }
    })
  })

/** Places of the looks at which it opened and closed. */
function run(rule: WholeRule, seen: readonly Look[]): ['open' | 'close', number][] {
  const ends: ['open' | 'close', number][] = []
  let episode: AlertInstance | undefined
  for (const [at, { atMs, value, invocations }] of seen.entries()) {
    if (episode) {
      episode = afterEvaluation(episode, { value, invocations }, atMs)
      if (!episode) ends.push(['close', at])
    } else if (shouldOpen(rule, { value, invocations })) {
      const of = { alertId: String(at), ruleId: 'r', rule, key: 'k', openedAt: '', recoveringSinceMs: undefined }
      episode = { ...of, value, invocations, seenAtMs: atMs }
      ends.push(['open', at])
    }
  }
  return ends
}

/** What a reader of the documentation would say: looks back from every look, and keeps nothing but whether it is open. */
function model(rule: WholeRule, seen: readonly Look[]): ['open' | 'close', number][] {
  const ends: ['open' | 'close', number][] = []
  const windowMs = rule.window_minutes * minuteMs
  const counts = ({ invocations }: Look) => rule.metric === 'cost_usd_per_hour' || invocations >= rule.min_invocations
  const isFine = ({ value }: Look) => value <= rule.recovers_at && value <= rule.above
  for (const [at, look] of seen.entries()) {
    const last = ends.at(-1)
    if (last?.[0] !== 'open') {
      if (look.value > rule.above && counts(look)) ends.push(['open', at])
      continue
    }
    // The longest run of fine looks up to here, since it opened, without a gap of more than a window.
    let first = at + 1
    while (first - 1 > last[1] && isFine(seen[first - 1]!)) {
      if (first <= at && seen[first]!.atMs - seen[first - 1]!.atMs > windowMs) break
      first -= 1
    }
    if (first <= at && look.atMs - seen[first]!.atMs >= windowMs) ends.push(['close', at])
  }
  return ends
}

test('alerts open and close where a simple model says so', () => {
  fc.assert(
    fc.property(rules, looks, (rule, seen) => {
      expect(run(rule, seen)).toEqual(model(rule, seen))
    }),
    { numRuns: 2000 },
  )
})

test('no two opens are without a close between them, and no alert is shorter than its window', () => {
  fc.assert(
    fc.property(rules, looks, (rule, seen) => {
      const ends = run(rule, seen)
      for (const [place, [kind, at]] of ends.entries()) {
        expect(kind).toBe(place % 2 === 0 ? 'open' : 'close')
        if (kind === 'open') expect(seen[at]!.value).toBeGreaterThan(rule.above)
        else
          expect(seen[at]!.atMs - seen[ends[place - 1]![1]]!.atMs).toBeGreaterThanOrEqual(
            rule.window_minutes * minuteMs,
          )
      }
    }),
    { numRuns: 1000 },
  )
})
