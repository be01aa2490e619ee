import type { Selectable } from 'kysely'
import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'
import { deleteRows, insertRow, updateRows } from '../../../db/tenant-rows.ts'
import type { WebhookSettings } from '../webhooks-types.ts'

type JsonColumns = Pick<WebhookSettings, 'filters' | 'thresholds' | 'alerts'>

export type WebhookRow = Omit<Selectable<TenantTables['hub.webhooks']>, 'tenant_id' | keyof JsonColumns> &
  Required<JsonColumns>

/** The settings of an endpoint in their stored form. */
export type WebhookState = Required<JsonColumns> &
  Pick<WebhookRow, 'url' | 'description' | 'format' | 'events' | 'disabled_at' | 'disabled_reason'>

/** An endpoint with the progress of its deliveries. */
export type WebhookWithProgress = WebhookRow &
  Pick<
    Selectable<TenantTables['hub.webhook_progress']>,
    'failures' | 'failing_since' | 'attempted_at' | 'delivered_at' | 'overflowing_since'
  >

const withProgress = `select w.webhook_id, w.url, w.description, w.format, w.events, w.filters, w.thresholds, w.alerts, w.secret_sealed,
    w.former_secret_sealed, w.former_secret_until, w.created_at, w.created_by, w.updated_at, w.disabled_at,
    w.disabled_reason, w.removed_at, coalesce(p.failures, 0) as failures, p.failing_since, p.attempted_at, p.delivered_at,
    p.overflowing_since
  from hub.webhooks w
  left join hub.webhook_progress p on p.tenant_id = $1 and p.webhook_id = w.webhook_id
  where w.tenant_id = $1`

/** Returns an endpoint, including a removed one (see `removed_at`). */
export async function webhookById(tx: TenantTx, webhookId: string): Promise<WebhookWithProgress | undefined> {
  const { rows } = await tx.client.query<WebhookWithProgress>(`${withProgress} and w.webhook_id = $2`, [
    tx.tenantId,
    webhookId,
  ])
  return rows[0]
}

/** `created_at` and `webhook_id` of the last endpoint on the previous page. */
export type WebhookPosition = readonly [createdAt: string, webhookId: string]

/** Returns a page of endpoints that are not removed, the oldest first. */
export async function webhooksAfter(
  tx: TenantTx,
  after: WebhookPosition | undefined,
  count: number,
): Promise<WebhookWithProgress[]> {
  const further = after ? 'and (w.created_at, w.webhook_id) > ($3, $4)' : ''
  const { rows } = await tx.client.query<WebhookWithProgress>(
    `${withProgress} and w.removed_at is null ${further} order by w.created_at, w.webhook_id limit $2`,
    [tx.tenantId, count, ...(after ?? [])],
  )
  return rows
}

function endpointsOf(tx: TenantTx) {
  return tx.db
    .selectFrom('hub.webhooks')
    .select(['webhook_id', 'url', 'events', 'filters', 'thresholds', 'alerts', 'disabled_at'])
    .$castTo<Pick<WebhookRow, 'webhook_id' | 'url' | 'events' | 'filters' | 'thresholds' | 'alerts' | 'disabled_at'>>()
    .where('tenant_id', '=', tx.tenantId)
    .where('removed_at', 'is', null)
}

/** Returns all endpoints that are not removed, the oldest first. */
export async function allWebhooks(tx: TenantTx) {
  return endpointsOf(tx).orderBy('created_at').orderBy('webhook_id').execute()
}

/** Returns the endpoint; undefined if it is removed. */
export async function findWebhook(tx: TenantTx, webhookId: string) {
  return endpointsOf(tx).where('webhook_id', '=', webhookId).executeTakeFirst()
}

export async function countWebhooks(tx: TenantTx): Promise<number> {
  const { count } = await tx.db
    .selectFrom('hub.webhooks')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('tenant_id', '=', tx.tenantId)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export interface OpenCounts {
  webhook_id: string
  pending: number
  dead: number
}

/** Counts waiting and dead deliveries, each up to `max`, so that the cost does not grow with them. */
export async function countOpen(tx: TenantTx, webhookIds: readonly string[], max: number): Promise<OpenCounts[]> {
  const { rows } = await tx.client.query<OpenCounts>(
    `select w.webhook_id,
        (select count(*) from (
          select 1 from hub.webhook_deliveries d
          where d.tenant_id = $1 and d.webhook_id = w.webhook_id and d.next_attempt_at is not null
          limit $3) waiting) as pending,
        (select count(*) from (
          select 1 from hub.webhook_deliveries d
          where d.tenant_id = $1 and d.webhook_id = w.webhook_id and d.status = 'dead'
          limit $3) given_up) as dead
      from hub.webhooks w
      where w.tenant_id = $1 and w.webhook_id = any($2::text[])`,
    [tx.tenantId, webhookIds, max],
  )
  return rows
}

/** Inserts an endpoint and its progress, which starts without messages. */
export async function addWebhook(
  tx: TenantTx,
  row: Omit<WebhookRow, 'former_secret_sealed' | 'former_secret_until' | 'removed_at'>,
): Promise<void> {
  await insertRow(tx, 'hub.webhooks', { ...row, ...asJson(row) })
  await insertRow(tx, 'hub.webhook_progress', { webhook_id: row.webhook_id, last_sequence: 0, failures: 0 })
}

/** Serialises the JSON columns: the driver would convert an array to a PostgreSQL array. */
function asJson({ alerts, filters, thresholds }: Required<JsonColumns>) {
  return {
    alerts: JSON.stringify(alerts),
    filters: JSON.stringify(filters),
    thresholds: JSON.stringify(thresholds),
  }
}

function updateWebhook(tx: TenantTx, webhookId: string) {
  return tx.db.updateTable('hub.webhooks').where('tenant_id', '=', tx.tenantId).where('webhook_id', '=', webhookId)
}

export async function changeWebhook(
  tx: TenantTx,
  { webhook_id, ...changes }: WebhookState & Pick<WebhookRow, 'webhook_id' | 'updated_at'>,
): Promise<void> {
  await updateWebhook(tx, webhook_id)
    .set({ ...changes, ...asJson(changes) })
    .execute()
}

export async function changeSecret(
  tx: TenantTx,
  {
    webhook_id,
    ...changes
  }: Pick<WebhookRow, 'webhook_id' | 'secret_sealed' | 'former_secret_sealed' | 'former_secret_until' | 'updated_at'>,
): Promise<void> {
  await updateWebhook(tx, webhook_id).set(changes).execute()
}

/** Disables an endpoint; returns false if it is already disabled or removed. */
export async function setDisabled(
  tx: TenantTx,
  webhookId: string,
  reason: 'gone' | 'failing',
  now: string,
): Promise<boolean> {
  const changed = await updateWebhook(tx, webhookId)
    .set({ disabled_at: now, disabled_reason: reason, updated_at: now })
    .where('disabled_at', 'is', null)
    .where('removed_at', 'is', null)
    .returning('webhook_id')
    .execute()
  return changed.length > 0
}

/**
 * Resets the failures of an endpoint. Call it before changing the endpoint itself: delivering processes lock the
 * progress first as well.
 */
export async function resetFailures(tx: TenantTx, webhookId: string): Promise<void> {
  await updateRows(
    tx,
    'hub.webhook_progress',
    { webhook_id: webhookId },
    { failures: 0, failing_since: null, attempted_at: null },
  )
}

/**
 * Deletes settings, secrets, alerts and progress of an endpoint, but keeps its row; {@link deleteDeliveries} deletes
 * the rest.
 */
export async function setRemoved(tx: TenantTx, webhookId: string, now: string): Promise<void> {
  for (const table of ['hub.webhook_progress', 'hub.webhook_alerts'] as const) {
    await deleteRows(tx, table, { webhook_id: webhookId })
  }
  await updateWebhook(tx, webhookId)
    .set({
      ...{ url: '', description: null, events: [] },
      ...{ filters: '{}', thresholds: '{}', alerts: '[]' },
      ...{ secret_sealed: Buffer.alloc(0), former_secret_sealed: null, former_secret_until: null },
      ...{ removed_at: now, updated_at: now },
    })
    .execute()
}

/** Deletes a part of the deliveries, and returns whether more may remain. */
export async function deleteDeliveries(tx: TenantTx, webhookId: string, count: number): Promise<boolean> {
  const { rowCount } = await tx.client.query(
    `delete from hub.webhook_deliveries d
      where d.tenant_id = $1 and d.delivery_id = any(array(
        select e.delivery_id from hub.webhook_deliveries e
        where e.tenant_id = $1 and e.webhook_id = $2 order by e.sequence limit $3))`,
    [tx.tenantId, webhookId, count],
  )
  return rowCount === count
}
