import type { TenantTx } from '../../../db/database.ts'
import type { DeliveryStatus } from '../delivery-types.ts'
import { type DeliveryRow, deliveryColumns, sequencesOf } from './deliveries-store.ts'

/** Maximum number of deliveries that one page reads, even if the filter matches few of them. */
export const lookedAtMax = 10_000

/** Filters deliveries by RFC 3339 times: from ≤ created_at < before. */
export interface DeliverySelection {
  status?: DeliveryStatus | undefined
  kind?: string | undefined
  from?: string | undefined
  before?: string | undefined
}

export interface DeliveryPage {
  rows: DeliveryRow[]
  /** The sequence below which the next page starts; undefined at the end. */
  next: number | undefined
}

/**
 * Returns the next deliveries of an endpoint below a sequence, the newest first, in a transaction of `inIndexOrder` and
 * `snapshot`. A page is shorter than requested if the matches are too far apart.
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
  // These are all that exist, or all among the deliveries that were read.
  const last = await tx.client.query<{ sequence: number }>(
    `select sequence ${inOrder.text} offset ${lookedAtMax - 1} limit 1`,
    inOrder.values,
  )
  return { rows, next: last.rows[0]?.sequence }
}

/** Selects rows by index, in its order. */
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
  // Compares the status too, and orders by both, because that is the order of the required index. The other index would
  // read all deliveries for the few that failed.
  const hasFailed = status === 'failed' || status === 'dead'
  if (hasFailed) conditions.push(`status in ('failed', 'dead')`, `status >= '${status}'`, `status <= '${status}'`)
  const [position, order] = hasFailed
    ? [(bound: string) => `(status, sequence) < ('${status}', ${bound})`, 'status desc, sequence desc']
    : [(bound: string) => `sequence < ${bound}`, 'sequence desc']
  if (upper.length > 0) conditions.push(position(`$${values.push(Math.min(...upper))}`))
  return { text: `from hub.webhook_deliveries where ${conditions.join(' and ')} order by ${order}`, order, values }
}

/** Returns the conditions that each selected row is checked for. */
function furtherConditions({ status, kind, from, before }: DeliverySelection, first: readonly unknown[]) {
  const values = [...first]
  const conditions: string[] = []
  if (status === 'delivered' || status === 'pending') conditions.push(`status = '${status}'`)
  if (kind !== undefined) conditions.push(`kind = $${values.push(kind)}`)
  if (from !== undefined) conditions.push(`created_at >= $${values.push(from)}`)
  if (before !== undefined) conditions.push(`created_at < $${values.push(before)}`)
  return { conditions, values }
}
