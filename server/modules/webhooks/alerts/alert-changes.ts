import { webhookOpenAlertsMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { TenantTx } from '../../../db/database.ts'
import { usersWithoutRecords } from '../../../db/users-without-records.ts'
import type { RecordClock } from '../../../records/record-clock.ts'
import type { WebhookOutbox } from '../webhooks-types.ts'
import { alertName, type Candidate, type EndpointFindings } from './alert-findings.ts'
import { closedMessage, openedMessage } from './alert-messages.ts'
import { nothing } from './alert-metrics.ts'
import { afterLook } from './alert-rules.ts'
import type { AlertInstance } from './alert-types.ts'
import * as store from './alerts-store.ts'
import { rulesById } from './metric-queries.ts'

/**
 * Opens and closes alerts of an endpoint from the findings of a reading, and queues their messages. Changes since the
 * reading count: deleted rules, alerts that others opened or closed, erased people.
 *
 * @param atMs the end of the reading, in milliseconds since 1970
 */
export async function changeAlerts(
  tx: TenantTx,
  deps: { outbox: Pick<WebhookOutbox, 'add'>; clock: RecordClock },
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
    const after = afterLook(episode, { value, invocations }, seenAtMs)
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
