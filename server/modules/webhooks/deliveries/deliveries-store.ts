import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'
import type { DeliveryAttempt } from '../delivery-types.ts'

type Columns = TenantTables['hub.webhook_deliveries']

export interface DeliveryRow
  extends Pick<
    Columns,
    | 'delivery_id'
    | 'webhook_id'
    | 'message_id'
    | 'kind'
    | 'sequence'
    | 'status'
    | 'occurred_at'
    | 'created_at'
    | 'attempt_count'
    | 'next_attempt_at'
    | 'delivered_at'
  > {
  last_attempt: DeliveryAttempt | null
}

export interface DetailedRow extends DeliveryRow, Pick<Columns, 'data' | 'tries'> {
  attempts: DeliveryAttempt[]
}

/** The columns of a list. It contains only the last attempt; all of them would make a page ten times as large. */
export const deliveryColumns = `delivery_id, webhook_id, message_id, kind, sequence, status, occurred_at, created_at,
  attempt_count, next_attempt_at, delivered_at, attempts -> -1 as last_attempt`

const detailedColumns = `${deliveryColumns}, data, tries, attempts`

export async function findDelivery(
  tx: TenantTx,
  webhookId: string,
  deliveryId: string,
): Promise<DetailedRow | undefined> {
  const { rows } = await tx.client.query<DetailedRow>(
    `select ${detailedColumns} from hub.webhook_deliveries
     where tenant_id = $1 and webhook_id = $2 and delivery_id = $3`,
    [tx.tenantId, webhookId, deliveryId],
  )
  return rows[0]
}

/** Returns the endpoint of a delivery. */
export async function endpointOfDelivery(tx: TenantTx, deliveryId: string): Promise<string | undefined> {
  const { rows } = await tx.client.query<{ webhook_id: string }>(
    'select webhook_id from hub.webhook_deliveries where tenant_id = $1 and delivery_id = $2',
    [tx.tenantId, deliveryId],
  )
  return rows[0]?.webhook_id
}

/** Returns the delivery like {@link findDelivery}, locked until the transaction ends. */
export async function lockDelivery(
  tx: TenantTx,
  webhookId: string,
  deliveryId: string,
): Promise<DetailedRow | undefined> {
  const { rows } = await tx.client.query<DetailedRow>(
    `select ${detailedColumns} from hub.webhook_deliveries
     where tenant_id = $1 and webhook_id = $2 and delivery_id = $3 for update`,
    [tx.tenantId, webhookId, deliveryId],
  )
  return rows[0]
}
