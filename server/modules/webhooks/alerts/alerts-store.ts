import type { Selectable } from 'kysely'
import { formatTimestamp, parseTimestamp } from '../../../../contract/timestamp.ts'
import { alertsLockClass } from '../../../db/advisory-locks.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'
import { tryLockTenant } from '../../../db/tenant-lock.ts'
import type { Episode, WholeRule } from './alert-types.ts'

type Row = Selectable<TenantTables['hub.webhook_alerts']>

/**
 * Whether this transaction may open and close alerts of the tenant: of several processes, one does at a time. In a
 * snapshot, what another one committed just before may be missing; PostgreSQL refuses what follows from that.
 */
export function lockAlerts(tx: TenantTx): Promise<boolean> {
  return tryLockTenant(tx, alertsLockClass)
}

/** Endpoints with alerts that are open, also such as have no rules any more. */
export async function endpointsWithAlerts(tx: TenantTx): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('hub.webhook_alerts')
    .select('webhook_id')
    .distinct()
    .where('tenant_id', '=', tx.tenantId)
    .execute()
  return rows.map((row) => row.webhook_id)
}

export async function openAlerts(tx: TenantTx, webhookId: string): Promise<Episode[]> {
  const rows = await tx.db
    .selectFrom('hub.webhook_alerts')
    .selectAll()
    .where('tenant_id', '=', tx.tenantId)
    .where('webhook_id', '=', webhookId)
    .execute()
  return rows.map(episodeOf)
}

/** `alert_id` is of the time when it opened. */
export async function alertsAfter(
  tx: TenantTx,
  webhookId: string,
  alertId: string | undefined,
  limit: number,
): Promise<Episode[]> {
  const ofEndpoint = tx.db
    .selectFrom('hub.webhook_alerts')
    .selectAll()
    .where('tenant_id', '=', tx.tenantId)
    .where('webhook_id', '=', webhookId)
  const behind = alertId === undefined ? ofEndpoint : ofEndpoint.where('alert_id', '>', alertId)
  return (await behind.orderBy('alert_id').limit(limit).execute()).map(episodeOf)
}

/** Answers those that were added: another process may have opened one just before. */
export async function addAlerts(
  tx: TenantTx,
  webhookId: string,
  episodes: readonly Episode[],
): Promise<ReadonlySet<string>> {
  if (episodes.length === 0) return new Set()
  const rows = await tx.db
    .insertInto('hub.webhook_alerts')
    .values(
      episodes.map((episode) => ({
        tenant_id: tx.tenantId,
        webhook_id: webhookId,
        rule_id: episode.ruleId,
        rule: JSON.stringify(episode.rule),
        group_key: episode.key,
        alert_id: episode.alertId,
        opened_at: episode.openedAt,
        recovering_since: null,
        value: episode.value,
        invocations: episode.invocations,
        seen_at: formatTimestamp(episode.seenAtMs),
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('alert_id')
    .execute()
  return new Set(rows.map((row) => row.alert_id))
}

/** Keeps what was seen of alerts that stay open. */
export async function setSeen(tx: TenantTx, webhookId: string, episodes: readonly Episode[]): Promise<void> {
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

/** Answers those that were there. */
export async function removeAlerts(
  tx: TenantTx,
  webhookId: string,
  episodes: readonly Episode[],
): Promise<ReadonlySet<string>> {
  if (episodes.length === 0) return new Set()
  const { rows } = await tx.client.query<{ alert_id: string }>(
    'delete from hub.webhook_alerts where tenant_id = $1 and webhook_id = $2 and alert_id = any ($3::uuid[]) returning alert_id',
    [tx.tenantId, webhookId, episodes.map(({ alertId }) => alertId)],
  )
  return new Set(rows.map((row) => row.alert_id))
}

/** Forgets alerts about people of whom no record is stored but those that are being erased. */
export async function removeAlertsAbout(
  tx: TenantTx,
  userIds: readonly string[],
  erasedIds: readonly string[],
): Promise<void> {
  await tx.client.query(
    `delete from hub.webhook_alerts a
     where a.tenant_id = $1 and a.group_key = any ($2::text[]) and a.rule ->> 'group_by' = 'user'
       and not exists (
         select from hub.records r
         where r.tenant_id = $1 and r.user_id = a.group_key and r.record_id <> all ($3::uuid[]))`,
    [tx.tenantId, userIds, erasedIds],
  )
}

function episodeOf(row: Row): Episode {
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
