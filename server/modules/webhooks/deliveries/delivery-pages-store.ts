import type { TenantTx } from '../../../db/database.ts'
import type { DeliveryStatus } from '../delivery-types.ts'
import { type DeliveryRow, deliveryColumns } from './deliveries-store.ts'
import { sequencesOf } from './delivery-times-store.ts'

/** Deliveries that one page looks at, however few of them the filter lets through. */
export const lookedAtMax = 10_000

/** Times are RFC 3339; from ≤ created_at < before. */
export interface DeliverySelection {
  status?: DeliveryStatus | undefined
  kind?: string | undefined
  from?: string | undefined
  before?: string | undefined
}

export interface DeliveryPage {
  rows: DeliveryRow[]
  /** The sequence to go on below; undefined at the end. */
  next: number | undefined
}

/**
 * The next deliveries of an endpoint below a sequence, the newest first, in a transaction of `inIndexOrder` and
 * `snapshot`. Fewer than asked for where they are too far apart.
 */
export async function deliveriesBelow(
  tx: TenantTx,
  webhookId: string,
  selection: DeliverySelection,
  below: number | undefined,
  count: number,
): Promise<DeliveryPage> {
  const inOrder = await rowsInOrder(tx, webhookId, selection, below)
  const { conditions, values } = furtherConditions(selection, inOrder.values)
  const most = conditions.length === 0 ? count + 1 : lookedAtMax
  const { rows } = await tx.client.query<DeliveryRow>(
    `select ${deliveryColumns} from (select * ${inOrder.text} limit ${most}) d
     where ${['true', ...conditions].join(' and ')} order by ${inOrder.order} limit $${values.length + 1}`,
    [...values, count + 1],
  )
  if (rows.length > count) return { rows: rows.slice(0, count), next: rows[count - 1]!.sequence }
  if (conditions.length === 0) return { rows, next: undefined }
  // Either they are all that there are, or all among those that were looked at.
  const last = await tx.client.query<{ sequence: number }>(
    `select sequence ${inOrder.text} offset ${lookedAtMax - 1} limit 1`,
    inOrder.values,
  )
  return { rows, next: last.rows[0]?.sequence }
}

/** What an index finds, in its order. */
async function rowsInOrder(
  tx: TenantTx,
  webhookId: string,
  { status, from, before }: DeliverySelection,
  below: number | undefined,
) {
  const range = await sequencesOf(tx, webhookId, { from, before })
  const values: unknown[] = [tx.tenantId, webhookId]
  const conditions = ['tenant_id = $1', 'webhook_id = $2']
  if (range.from !== undefined) conditions.push(`sequence >= $${values.push(range.from)}`)
  const upper = [below, range.below].filter((bound) => bound !== undefined)
  // Compared together with the status, and ordered by both, because that is the order of the one index to be used: the
  // other would look through all deliveries for the few that failed.
  const hasFailed = status === 'failed' || status === 'dead'
  if (hasFailed) conditions.push(`status in ('failed', 'dead')`, `status >= '${status}'`, `status <= '${status}'`)
  const [position, order] = hasFailed
    ? [(bound: string) => `(status, sequence) < ('${status}', ${bound})`, 'status desc, sequence desc']
    : [(bound: string) => `sequence < ${bound}`, 'sequence desc']
  if (upper.length > 0) conditions.push(position(`$${values.push(Math.min(...upper))}`))
  return { text: `from hub.webhook_deliveries where ${conditions.join(' and ')} order by ${order}`, order, values }
}

/** What its rows are looked at for. */
function furtherConditions({ status, kind, from, before }: DeliverySelection, first: readonly unknown[]) {
  const values = [...first]
  const conditions: string[] = []
  if (status === 'delivered' || status === 'pending') conditions.push(`status = '${status}'`)
  if (kind !== undefined) conditions.push(`kind = $${values.push(kind)}`)
  if (from !== undefined) conditions.push(`created_at >= $${values.push(from)}`)
  if (before !== undefined) conditions.push(`created_at < $${values.push(before)}`)
  return { conditions, values }
}
