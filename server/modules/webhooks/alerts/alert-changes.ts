import { webhookOpenAlertsMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { JsonObject } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import { usersWithoutRecords } from '../../../db/users-without-records.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { RecordClock } from '../../../records/record-clock.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { AlertRule, OutgoingMessage, WebhookOutbox } from '../webhooks-types.ts'
import { writeAlertEvents } from './alert-events.ts'
import { alertName, type Candidate, type EndpointFindings } from './alert-findings.ts'
import { type AlertInstance, afterEvaluation, alertWindow, nothing } from './alert-rules.ts'
import * as store from './alerts-store.ts'
import { rulesById } from './metric-queries.ts'

/**
 * Opens and closes alerts of an endpoint from the findings of a reading, writes their events, and queues their messages.
 * Changes since the reading count: deleted rules, alerts that others opened or closed, erased people.
 *
 * @param atMs the end of the reading, in milliseconds since 1970
 */
export async function changeAlerts(
  tx: TenantTx,
  deps: { outbox: Pick<WebhookOutbox, 'add'>; clock: RecordClock; governance: Pick<GovernanceLog, 'appendAll'> },
  tenant: Tenant,
  webhookId: string,
  findings: EndpointFindings,
  atMs: number,
): Promise<void> {
  const held = await store.heldRules(tx, webhookId)
  if (!held) return
  const open = await store.openAlerts(tx, webhookId)
  const stay: AlertInstance[] = []
  const closed: AlertInstance[] = []
  for (const episode of open) {
    const name = alertName(episode)
    if (!findings.wasOpen.has(name)) continue
    const { value, invocations, atMs: seenAtMs } = findings.sights.get(name) ?? { ...nothing, atMs }
    const after = afterEvaluation(episode, { value, invocations }, seenAtMs)
    if (after) stay.push(after)
    else closed.push({ ...episode, value, invocations, seenAtMs })
  }
  const names = new Set(open.map(alertName))
  const rules = rulesById(held)
  const candidates = findings.worst.inOrder().filter(({ watch, key }) => {
    return rules.has(watch.ruleId) && !names.has(alertName({ ruleId: watch.ruleId, key }))
  })
  const places = webhookOpenAlertsMax - (open.length - closed.length)
  const opened = (await withoutErased(tx, candidates)).slice(0, Math.max(0, places)).map((each) => episodeOf(each))
  await store.setSeen(tx, webhookId, stay)
  await store.removeAlerts(tx, webhookId, closed)
  await store.addAlerts(tx, webhookId, opened)
  await writeAlertEvents(tx, deps, tenant, webhookId, opened)
  await deps.outbox.add(tx, [
    ...closed.map((each) => closedMessage(webhookId, each, each.seenAtMs)),
    ...opened.map((each) => openedMessage(webhookId, each, each.seenAtMs)),
  ])

  function episodeOf({ watch: { ruleId, rule }, key, value, invocations, atMs: seenAtMs }: Candidate): AlertInstance {
    const alertId = deps.clock.next().recordId
    const openedAt = formatTimestamp(seenAtMs)
    return { alertId, ruleId, rule, key, openedAt, recoveringSinceMs: undefined, value, invocations, seenAtMs }
  }
}

/**
 * Drops candidates about erased people. The reading may be older than an erasure, which waits for the lock of alerts.
 */
async function withoutErased(tx: TenantTx, candidates: readonly Candidate[]): Promise<readonly Candidate[]> {
  const people = new Set(candidates.filter(({ watch }) => watch.rule.group_by === 'user').map(({ key }) => key))
  if (people.size === 0) return candidates
  const erased = new Set(await usersWithoutRecords(tx, [...people], []))
  return candidates.filter(({ watch, key }) => watch.rule.group_by !== 'user' || !erased.has(key))
}

/** Returns the message that an alert has opened, only for its endpoint. */
export function openedMessage(webhookId: string, episode: AlertInstance, nowMs: number): OutgoingMessage {
  return messageOf('skill.alert_opened', webhookId, episode, nowMs, {})
}

/** Returns the message that an alert has closed, with the last values and window. */
export function closedMessage(webhookId: string, episode: AlertInstance, nowMs: number): OutgoingMessage {
  return messageOf('skill.alert_closed', webhookId, episode, nowMs, { closed_at: formatTimestamp(nowMs) })
}

function messageOf(
  kind: OutgoingMessage['kind'],
  webhookId: string,
  { alertId, rule, key, value, invocations, openedAt, seenAtMs }: AlertInstance,
  nowMs: number,
  end: JsonObject,
): OutgoingMessage {
  const { fromMs, toMs } = alertWindow(seenAtMs, rule.window_minutes)
  return {
    kind,
    occurredAt: formatTimestamp(nowMs),
    data: {
      alert_id: alertId,
      metric: rule.metric,
      group_by: rule.group_by,
      key,
      value,
      threshold: rule.above,
      window_minutes: rule.window_minutes,
      window: { from: formatTimestamp(fromMs), to: formatTimestamp(toMs) },
      invocations,
      opened_at: openedAt,
      ...end,
    },
    ...(rule.group_by === 'user' && { userId: key }),
    webhookIds: [webhookId],
  }
}

/** Ends alerts when their endpoint or its rules change, regardless of the metrics. */
export class AlertEnds {
  readonly #outbox: Pick<WebhookOutbox, 'add'>
  readonly #nowMs: () => number

  constructor({ outbox, nowMs }: { outbox: Pick<WebhookOutbox, 'add'>; nowMs: () => number }) {
    this.#outbox = outbox
    this.#nowMs = nowMs
  }

  /** Closes alerts of rules that the endpoint no longer has, and notifies it. */
  async rulesChanged(tx: TenantTx, webhookId: string, rules: readonly AlertRule[]): Promise<void> {
    const ended = await store.removeAlertsBut(tx, webhookId, [...rulesById(rules).keys()])
    const now = this.#nowMs()
    const messages = ended.map((episode) => closedMessage(webhookId, episode, now))
    await this.#outbox.add(tx, messages)
  }

  /**
   * Deletes all alerts of an endpoint that was disabled, removed or enabled again, without messages: their state during
   * the silence is unknown.
   */
  async forgotten(tx: TenantTx, webhookId: string): Promise<void> {
    await store.removeAlertsBut(tx, webhookId, [])
  }
}
