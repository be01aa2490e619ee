import { testEventKind } from '../../../../contract/webhook-events.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { DeliveryStatus } from '../delivery-types.ts'
import { type DeliveryRow, deliveryColumns } from './deliveries-store.ts'
import { sequencesOf } from './delivery-times-store.ts'

/** Selects deliveries to requeue; times are RFC 3339, from ≤ created_at < before. */
export interface Requeued {
  statuses: readonly DeliveryStatus[]
  from: string
  before: string | undefined
}

/**
 * Resets a delivery except for its log, as if it had never been attempted.
 *
 * @param now index of the parameter
 */
const queuedAnew = (now: number) => `status = 'pending', tries = 0, next_attempt_at = $${now}, delivered_at = null`

/** Counts the deliveries that {@link requeueAll} would queue, up to a maximum. */
export async function countRequeued(
  tx: TenantTx,
  webhookId: string,
  requeued: Requeued,
  most: number,
): Promise<number> {
  const { where, values } = await conditionsOf(tx, webhookId, requeued)
  const { rows } = await tx.client.query<{ count: number }>(
    `select count(*)::int as count from (
       select 1 from hub.webhook_deliveries where ${where} limit $${values.length + 1}) d`,
    [...values, most],
  )
  return rows[0]!.count
}

/** Queues one delivery again; its schedule restarts. */
export async function requeueDelivery(tx: TenantTx, deliveryId: string, now: string): Promise<DeliveryRow> {
  const { rows } = await tx.client.query<DeliveryRow>(
    `update hub.webhook_deliveries
     set ${queuedAnew(3)}
     where tenant_id = $1 and delivery_id = $2
     returning ${deliveryColumns}`,
    [tx.tenantId, deliveryId, now],
  )
  return rows[0]!
}

/** Queues deliveries again, restarts their schedules, and returns their number. */
export async function requeueAll(tx: TenantTx, webhookId: string, requeued: Requeued, now: string): Promise<number> {
  const { where, values } = await conditionsOf(tx, webhookId, requeued)
  const { rowCount } = await tx.client.query(
    `update hub.webhook_deliveries
     set ${queuedAnew(values.length + 1)}
     where ${where}`,
    [...values, now],
  )
  return rowCount ?? 0
}

/** Excludes erased deliveries and test messages, which nobody waits for. */
async function conditionsOf(tx: TenantTx, webhookId: string, { statuses, from, before }: Requeued) {
  const range = await sequencesOf(tx, webhookId, { from, before })
  const values: unknown[] = [tx.tenantId, webhookId, from]
  const conditions = [
    'tenant_id = $1',
    'webhook_id = $2',
    'created_at >= $3',
    // Literals let PostgreSQL prove that the partial index of undelivered messages contains the rows.
    `status in (${statuses.map((status) => `'${status}'`).join(', ')})`,
    'data is not null',
    `kind <> '${testEventKind}'`,
  ]
  if (range.from !== undefined) conditions.push(`sequence >= $${values.push(range.from)}`)
  if (range.below !== undefined) conditions.push(`sequence < $${values.push(range.below)}`)
  if (before !== undefined) conditions.push(`created_at < $${values.push(before)}`)
  return { where: conditions.join(' and '), values }
}
