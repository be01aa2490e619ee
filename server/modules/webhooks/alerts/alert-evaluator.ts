import { createHash } from 'node:crypto'
import { webhookOpenAlertsMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { RecordClock } from '../../hub/record-clock-types.ts'
import type { TelemetryWindows, WindowQuestion } from '../../telemetry/summary/window-types.ts'
import { meaningOf, wholeRule } from '../endpoints/webhook-defaults.ts'
import type { Endpoint, Endpoints, WebhookOutbox } from '../webhooks-types.ts'
import { closedMessage, openedMessage } from './alert-messages.ts'
import { nothing, sightOf } from './alert-metrics.ts'
import { afterLook, opens } from './alert-rules.ts'
import type { AlertEvaluator, Episode, Sight, WholeRule } from './alert-types.ts'
import { alertWindow } from './alert-windows.ts'
import * as store from './alerts-store.ts'

/** The rules of an endpoint that are answered by the same figures. */
interface RulesQuestion extends WindowQuestion {
  rules: { ruleId: string; rule: WholeRule }[]
}

/** A group that an alert opens for. */
interface Candidate extends Sight {
  ruleId: string
  rule: WholeRule
  key: string
}

export function createAlertEvaluator(deps: {
  database: Pick<Database, 'withTenant'>
  endpoints: Pick<Endpoints, 'all'>
  outbox: Pick<WebhookOutbox, 'add'>
  windows: TelemetryWindows
  clock: RecordClock
  nowMs: () => number
}): AlertEvaluator {
  const { database, endpoints, outbox, windows, clock, nowMs } = deps

  /** Endpoints that have rules, or alerts of rules that they had. */
  async function concerned(tenantId: string): Promise<string[]> {
    return database.withTenant(
      tenantId,
      async (tx) => {
        const withRules = (await endpoints.all(tx)).filter(({ enabled, alerts }) => enabled && alerts.length > 0)
        return [...new Set([...withRules.map(({ webhookId }) => webhookId), ...(await store.endpointsWithAlerts(tx))])]
      },
      { readOnly: true },
    )
  }

  /** Sees and changes what belongs together: figures and alerts of one snapshot. */
  async function evaluateEndpoint(tx: TenantTx, webhookId: string): Promise<void> {
    if (!(await store.lockAlerts(tx))) return
    const endpoint = (await endpoints.all(tx)).find((each) => each.webhookId === webhookId)
    const rules = rulesOf(endpoint)
    const now = nowMs()
    const open = await store.openAlerts(tx, webhookId)
    const current = open.filter(({ ruleId }) => rules.has(ruleId))
    const { sights, candidates } = await look(tx, questionsOf(endpoint, rules, now), current)
    const looked = current.map((episode) => ({
      episode,
      after: afterLook(episode, sights.get(nameOf(episode)) ?? nothing, now),
    }))
    const stay = looked.flatMap(({ after }) => after ?? [])
    const recovered = looked.flatMap(({ episode, after }) =>
      after ? [] : [{ ...episode, ...(sights.get(nameOf(episode)) ?? nothing) }],
    )
    const withoutRule = open.filter(({ ruleId }) => !rules.has(ruleId))
    const opened = worstOf(candidates, webhookOpenAlertsMax - stay.length).map((candidate) => episodeOf(candidate, now))
    const closed = [...withoutRule, ...recovered]
    await store.setSeen(tx, webhookId, stay)
    const removed = await store.removeAlerts(tx, webhookId, closed)
    const added = await store.addAlerts(tx, webhookId, opened)
    if (!endpoint?.enabled) return
    await outbox.add(tx, [
      ...closed.filter(({ alertId }) => removed.has(alertId)).map((each) => closedMessage(webhookId, each, now)),
      ...opened.filter(({ alertId }) => added.has(alertId)).map((each) => openedMessage(webhookId, each, now)),
    ])
  }

  /** What the windows show of groups with an alert, and of those that one is to open for. */
  async function look(tx: TenantTx, questions: readonly RulesQuestion[], current: readonly Episode[]) {
    const names = new Set(current.map(nameOf))
    const sights = new Map<string, Sight>()
    const candidates: Candidate[] = []
    await windows.eachGroup(tx, questions, ({ rules }, group) => {
      for (const { ruleId, rule } of rules) {
        const name = nameOf({ ruleId, key: group.key })
        const sight = sightOf(rule, group)
        if (names.has(name)) sights.set(name, sight)
        else if (opens(rule, sight)) candidates.push({ ...sight, ruleId, rule, key: group.key })
      }
    })
    return { sights, candidates }
  }

  function episodeOf({ ruleId, rule, key, value, invocations }: Candidate, now: number): Episode {
    const alertId = clock.next().recordId
    const openedAt = formatTimestamp(now)
    return { alertId, ruleId, rule, key, openedAt, recoveringSinceMs: undefined, value, invocations, seenAtMs: now }
  }

  return {
    async evaluate(tenantId) {
      const webhookIds = await concerned(tenantId)
      for (const webhookId of webhookIds) {
        await database.withTenant(tenantId, (tx) => evaluateEndpoint(tx, webhookId), { snapshot: true })
      }
      return webhookIds.length > 0
    },
  }
}

/** By their ids, which are the same for rules that mean the same. None of an endpoint that is gone or disabled. */
function rulesOf(endpoint: Endpoint | undefined): Map<string, WholeRule> {
  if (!endpoint?.enabled) return new Map()
  return new Map(endpoint.alerts.map((rule) => [digestOf(meaningOf(rule)), wholeRule(rule)]))
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** One for all rules with the same window and groups. */
function questionsOf(
  endpoint: Endpoint | undefined,
  rules: ReadonlyMap<string, WholeRule>,
  now: number,
): RulesQuestion[] {
  const entries = [...rules].map(([ruleId, rule]) => ({ ruleId, rule }))
  const alike = Map.groupBy(entries, ({ rule }) => `${rule.group_by} ${rule.window_minutes}`)
  return [...alike.values()].map((those) => ({
    ...alertWindow(now, those[0]!.rule.window_minutes),
    groupBy: those[0]!.rule.group_by,
    skillIds: endpoint?.filters.skill_ids,
    archetypeIds: endpoint?.filters.archetype_ids,
    latencies: those.some(({ rule }) => rule.metric === 'latency_p95_ms'),
    rules: those,
  }))
}

/** By how many times they exceed their thresholds. */
function worstOf(candidates: readonly Candidate[], count: number): Candidate[] {
  const excess = ({ value, rule }: Candidate) => value / rule.above
  return [...candidates].sort((a, b) => excess(b) - excess(a) || (a.key < b.key ? -1 : 1)).slice(0, Math.max(0, count))
}

function nameOf({ ruleId, key }: { ruleId: string; key: string }): string {
  return `${ruleId} ${key}`
}
