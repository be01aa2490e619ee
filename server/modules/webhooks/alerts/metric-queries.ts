import { createHash } from 'node:crypto'
import type { WindowQuestion } from '../../telemetry/summary/window-types.ts'
import type { AlertRule, Endpoint, WebhookFilters } from '../webhooks-types.ts'
import { meaningOf, type WatchedRule, wholeRule } from './alert-rules.ts'

type Scope = Pick<WindowQuestion, 'groupBy' | 'skillIds' | 'archetypeIds'>

/** The rules of all endpoints of a tenant that one reading serves, regardless of their windows. */
export interface Reading {
  /** The key of the reading; equal for rules that read the same data. */
  name: string
  scope: Scope
  watches: WatchedRule[]
}

/** Returns the readings that the rules of enabled endpoints need, those grouped by user last. */
export async function queryMetrics(
  endpoints: readonly Endpoint[],
  yieldIfLong: () => Promise<void>,
): Promise<Reading[]> {
  const readings = new Map<string, Reading>()
  for (const endpoint of endpoints) {
    if (!endpoint.enabled) continue
    const scopes = scopesOf(endpoint)
    for (const [ruleId, rule] of rulesById(endpoint.alerts)) {
      const { name, scope } = scopes(rule.group_by)
      const reading = readings.getOrInsertComputed(name, () => ({ name, scope, watches: [] }))
      reading.watches.push({ webhookId: endpoint.webhookId, ruleId, rule, keys: keysOf(endpoint, rule) })
    }
    await yieldIfLong()
  }
  const order = ['skill', 'archetype', 'user']
  return [...readings.values()].sort((a, b) => order.indexOf(a.scope.groupBy) - order.indexOf(b.scope.groupBy))
}

/** Returns the number of readings that the rules of some endpoints need. */
export function countMetrics(endpoints: readonly Pick<Endpoint, 'alerts' | 'filters'>[]): number {
  const names = endpoints.flatMap((endpoint) => {
    const scopes = scopesOf(endpoint)
    return endpoint.alerts.map((rule) => scopes(rule.group_by).name)
  })
  return new Set(names).size
}

/** Indexes rules by id; equivalent rules have equal ids. */
export function rulesById(rules: readonly AlertRule[]): Map<string, WatchedRule['rule']> {
  return new Map(rules.map((rule) => [digestOf(meaningOf(rule)), wholeRule(rule)]))
}

function keysOf({ filters }: Pick<Endpoint, 'filters'>, { group_by: groupBy }: AlertRule) {
  const ids = groupBy === 'skill' ? filters.skill_ids : groupBy === 'archetype' ? filters.archetype_ids : undefined
  return ids && new Set(ids)
}

/**
 * Returns the scope to read. A filter on the grouping itself applies to the groups, so that one reading serves all such
 * endpoints.
 */
function scopesOf({ filters }: { filters: WebhookFilters }) {
  const made = new Map<string, Pick<Reading, 'name' | 'scope'>>()
  return (groupBy: Scope['groupBy']) =>
    made.getOrInsertComputed(groupBy, () => {
      const skillIds = groupBy === 'skill' ? undefined : sorted(filters.skill_ids)
      const archetypeIds = groupBy === 'archetype' ? undefined : sorted(filters.archetype_ids)
      const name = digestOf(JSON.stringify([groupBy, skillIds ?? null, archetypeIds ?? null]))
      return { name, scope: { groupBy, skillIds, archetypeIds } }
    })
}

function sorted(ids: readonly string[] | undefined): string[] | undefined {
  return ids && [...new Set(ids)].sort()
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
