import { testEventKind } from '../../../../contract/webhook-events.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'
import type { DeliveryAttempt, DeliveryStatus } from '../webhooks-types.ts'

type Columns = TenantTables['hub.webhook_deliveries']

export interface DeliveryRow
  extends Omit<Columns, 'tenant_id' | 'data' | 'record_id' | 'user_id' | 'tries' | 'attempts'> {
  last_attempt: DeliveryAttempt | null
}

export interface DetailedRow extends DeliveryRow, Pick<Columns, 'data' | 'tries'> {
  attempts: DeliveryAttempt[]
}

/** The columns of a list. It contains only the last attempt; all of them would make a page ten times as large. */
export const deliveryColumns = `delivery_id, webhook_id, message_id, kind, sequence, status, occurred_at, created_at,
  attempt_count, next_attempt_at, delivered_at, attempts -> -1 as last_attempt`

const detailedColumns = `${deliveryColumns}, data, tries, attempts`

/** @param lock `for update` locks the delivery until the transaction ends */
export async function findDelivery(
  tx: TenantTx,
  webhookId: string,
  deliveryId: string,
  lock: '' | 'for update' = '',
): Promise<DetailedRow | undefined> {
  const { rows } = await tx.client.query<DetailedRow>(
    `select ${detailedColumns} from hub.webhook_deliveries
     where tenant_id = $1 and webhook_id = $2 and delivery_id = $3 ${lock}`,
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

/**
 * Processes assign consecutive sequences. Their clocks differ by less than this, and they wait less than this between
 * reading the clock and taking a sequence.
 */
const disorder = `interval '30 seconds'`

/** A range of sequences that contains all deliveries of a period, and a few just before and after it. */
export interface SequenceRange {
  from: number | undefined
  below: number | undefined
}

/**
 * Returns the sequences of a period.
 *
 * @param times RFC 3339, as `created_at`; from ≤ created_at < before
 */
export async function sequencesOf(
  tx: TenantTx,
  webhookId: string,
  times: { from?: string | undefined; before?: string | undefined },
): Promise<SequenceRange> {
  const { from, before } = times
  return {
    from: from === undefined ? undefined : await firstSince(tx, webhookId, from, '-'),
    below: before === undefined ? undefined : await firstSince(tx, webhookId, before, '+'),
  }
}

/**
 * Returns the first sequence since a time, or the one after all. It searches by halving, so it reads about twenty rows
 * of a million. Undefined without deliveries.
 */
async function firstSince(tx: TenantTx, webhookId: string, time: string, sign: '+' | '-'): Promise<number | undefined> {
  const { rows } = await tx.client.query<{ low: number | null }>(
    `with recursive search (low, high) as (
       select
         (select sequence from hub.webhook_deliveries
          where tenant_id = $1 and webhook_id = $2 order by sequence limit 1),
         (select sequence + 1 from hub.webhook_deliveries
          where tenant_id = $1 and webhook_id = $2 order by sequence desc limit 1)
       union all
       select
         case when middle.is_earlier then middle.sequence + 1 else low end,
         case when middle.is_earlier then high else (low + high) / 2 end
       from search, lateral (
         select sequence, created_at < $3::timestamptz ${sign} ${disorder} as is_earlier from hub.webhook_deliveries
         where tenant_id = $1 and webhook_id = $2 and sequence >= (low + high) / 2 order by sequence limit 1) middle
       where low < high
     ) select low from search where low >= high`,
    [tx.tenantId, webhookId, time],
  )
  return rows[0]?.low ?? undefined
}

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
