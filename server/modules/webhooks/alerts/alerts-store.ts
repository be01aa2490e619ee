import type { Selectable } from 'kysely'
import { formatTimestamp, parseTimestamp } from '../../../../contract/timestamp.ts'
import { alertsLockClass } from '../../../db/advisory-locks.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'
import { tryLockTenant } from '../../../db/tenant-lock.ts'
import type { AlertRule } from '../webhooks-types.ts'
import type { OpenAlert } from './alert-findings.ts'
import type { AlertInstance, WholeRule } from './alert-rules.ts'

type Row = Selectable<TenantTables['hub.webhook_alerts']>

/** Returns whether this transaction may open and close alerts of the tenant: only one process does at a time. */
export function lockAlerts(tx: TenantTx): Promise<boolean> {
  return tryLockTenant(tx, alertsLockClass)
}

/** Returns the rules of an endpoint, locked until the transaction ends. Undefined if it is disabled or removed. */
export async function heldRules(tx: TenantTx, webhookId: string): Promise<AlertRule[] | undefined> {
  const { rows } = await tx.client.query<{ alerts: AlertRule[] }>(
    `select alerts from hub.webhooks
     where tenant_id = $1 and webhook_id = $2 and disabled_at is null and removed_at is null for share`,
    [tx.tenantId, webhookId],
  )
  return rows[0]?.alerts
}

/** Returns the rules with open alerts, including deleted rules. */
export async function rulesWithAlerts(tx: TenantTx): Promise<{ webhookId: string; ruleId: string }[]> {
  const rows = await tx.db
    .selectFrom('hub.webhook_alerts')
    .select(['webhook_id as webhookId', 'rule_id as ruleId'])
    .distinct()
    .where('tenant_id', '=', tx.tenantId)
    .execute()
  return rows
}

/** Returns open alerts of some rules after the given one, in key order. */
export async function openNames(
  tx: TenantTx,
  ruleIds: readonly string[],
  after: OpenAlert | undefined,
  limit: number,
): Promise<OpenAlert[]> {
  const { rows } = await tx.client.query<[string, string, string]>({
    text: `select webhook_id, rule_id, group_key from hub.webhook_alerts
      where tenant_id = $1 and rule_id = any ($2::text[]) and (webhook_id, rule_id, group_key) > ($3, $4, $5)
      order by webhook_id, rule_id, group_key limit $6`,
    values: [tx.tenantId, ruleIds, after?.webhookId ?? '', after?.ruleId ?? '', after?.key ?? '', limit],
    rowMode: 'array',
  })
  return rows.map(([webhookId, ruleId, key]) => ({ webhookId, ruleId, key }))
}

export async function openAlerts(tx: TenantTx, webhookId: string): Promise<AlertInstance[]> {
  return (await alertsOf(tx, webhookId).execute()).map(episodeOf)
}

/** Returns alerts in the order in which they opened: `alert_id` contains the time. */
export async function alertsAfter(
  tx: TenantTx,
  webhookId: string,
  alertId: string | undefined,
  limit: number,
): Promise<AlertInstance[]> {
  const ofEndpoint = alertsOf(tx, webhookId)
  const behind = alertId === undefined ? ofEndpoint : ofEndpoint.where('alert_id', '>', alertId)
  return (await behind.orderBy('alert_id').limit(limit).execute()).map(episodeOf)
}

function alertsOf(tx: TenantTx, webhookId: string) {
  const alerts = tx.db.selectFrom('hub.webhook_alerts').selectAll()
  return alerts.where('tenant_id', '=', tx.tenantId).where('webhook_id', '=', webhookId)
}

export async function addAlerts(tx: TenantTx, webhookId: string, episodes: readonly AlertInstance[]): Promise<void> {
  if (episodes.length === 0) return
  await tx.client.query(
    `insert into hub.webhook_alerts (tenant_id, webhook_id, rule_id, rule, group_key, alert_id, opened_at,
       recovering_since, value, invocations, seen_at)
     select $1, $2, e.rule_id, e.rule, e.group_key, e.alert_id, e.opened_at, null, e.value, e.invocations, e.seen_at
     from unnest($3::text[], $4::jsonb[], $5::text[], $6::uuid[], $7::timestamptz[], $8::double precision[],
       $9::bigint[], $10::timestamptz[])
       as e (rule_id, rule, group_key, alert_id, opened_at, value, invocations, seen_at)
     returning alert_id`,
    [
      ...[tx.tenantId, webhookId],
      episodes.map(({ ruleId }) => ruleId),
      episodes.map(({ rule }) => JSON.stringify(rule)),
      episodes.map(({ key }) => key),
      episodes.map(({ alertId }) => alertId),
      episodes.map(({ openedAt }) => openedAt),
      episodes.map(({ value }) => value),
      episodes.map(({ invocations }) => invocations),
      episodes.map(({ seenAtMs }) => formatTimestamp(seenAtMs)),
    ],
  )
}

/** Saves the last values of alerts that stay open. */
export async function setSeen(tx: TenantTx, webhookId: string, episodes: readonly AlertInstance[]): Promise<void> {
  if (episodes.length === 0) return
  await tx.client.query(
    `update hub.webhook_alerts a
     set recovering_since = s.recovering_since, value = s.value, invocations = s.invocations, seen_at = s.seen_at
     from unnest($3::uuid[], $4::timestamptz[], $5::double precision[], $6::bigint[], $7::timestamptz[])
       as s (alert_id, recovering_since, value, invocations, seen_at)
     where a.tenant_id = $1 and a.webhook_id = $2 and a.alert_id = s.alert_id`,
    [
      ...[tx.tenantId, webhookId],
      episodes.map(({ alertId }) => alertId),
      episodes.map(({ recoveringSinceMs: since }) => (since === undefined ? null : formatTimestamp(since))),
      episodes.map(({ value }) => value),
      episodes.map(({ invocations }) => invocations),
      episodes.map(({ seenAtMs }) => formatTimestamp(seenAtMs)),
    ],
  )
}

export async function removeAlerts(tx: TenantTx, webhookId: string, episodes: readonly AlertInstance[]): Promise<void> {
  if (episodes.length === 0) return
  await tx.client.query(
    'delete from hub.webhook_alerts where tenant_id = $1 and webhook_id = $2 and alert_id = any ($3::uuid[])',
    [tx.tenantId, webhookId, episodes.map(({ alertId }) => alertId)],
  )
}

/** Deletes all alerts of an endpoint except those of some rules, and returns them. */
export async function removeAlertsBut(
  tx: TenantTx,
  webhookId: string,
  ruleIds: readonly string[],
): Promise<AlertInstance[]> {
  const rows = await tx.db
    .deleteFrom('hub.webhook_alerts')
    .where('tenant_id', '=', tx.tenantId)
    .where('webhook_id', '=', webhookId)
    .where('rule_id', 'not in', ruleIds.length > 0 ? [...ruleIds] : [''])
    .returningAll()
    .execute()
  return rows.map(episodeOf)
}

/** Deletes alerts about people. */
export async function removeAlertsAbout(tx: TenantTx, userIds: readonly string[]): Promise<void> {
  await tx.client.query(
    `delete from hub.webhook_alerts
     where tenant_id = $1 and group_key = any ($2::text[]) and rule ->> 'group_by' = 'user'`,
    [tx.tenantId, userIds],
  )
}

function episodeOf(row: Row): AlertInstance {
  return {
    alertId: row.alert_id,
    ruleId: row.rule_id,
    rule: row.rule as WholeRule,
    key: row.group_key,
    openedAt: row.opened_at,
    recoveringSinceMs: row.recovering_since === null ? undefined : msOf(row.recovering_since),
    value: row.value,
    invocations: Number(row.invocations),
    seenAtMs: msOf(row.seen_at),
  }
}

function msOf(timestamp: string): number {
  const time = parseTimestamp(timestamp)
  if (!time) throw new Error('a time of an alert cannot be read')
  return time.epochMs
}
