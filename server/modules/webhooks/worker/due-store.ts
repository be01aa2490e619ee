import { testEventKind } from '../../../../contract/webhook-events.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { MessageRow } from '../deliveries/message-body.ts'
import type { DeliveryAttempt } from '../delivery-types.ts'

/** A delivery that is due for an attempt. */
export interface DueDelivery extends MessageRow {
  delivery_id: string
  webhook_id: string
  /** Attempts since it was queued, and in all. */
  tries: number
  attempt_count: number
  /** The stored attempts, the last one at the end. */
  attempts: DeliveryAttempt[]
  /** Its approximate size in memory. */
  bytes: number
}

/** The number of deliveries of an endpoint to read, and their total bytes; at least one is read. */
export interface Wanted {
  webhookId: string
  count: number
  bytes: number
}

const columns = `delivery_id, webhook_id, sequence, message_id, kind, occurred_at, data, tries, attempt_count, attempts`
/** `octet_length` of a text that is stored apart reads only its size. */
const bytes = `512 + 2 * coalesce(octet_length(data), 0)
  + case when attempt_count = 0 then 0 else 4 * octet_length(attempts::text) end as bytes`

/**
 * Reads the deliveries of each endpoint that have been due the longest, in a transaction of `inIndexOrder`.
 *
 * @param except deliveries that this process already holds
 */
export async function dueDeliveries(
  tx: TenantTx,
  wanted: readonly Wanted[],
  except: readonly string[],
): Promise<DueDelivery[]> {
  const { rows } = await tx.client.query<DueDelivery>(
    `select d.${columns.replaceAll(', ', ', d.')}, d.bytes from unnest($2::text[], $3::int[], $4::int[]) as wanted (webhook_id, n, bytes_max)
     cross join lateral (
       select * from (
         select *, sum(bytes) over (order by next_attempt_at, sequence rows unbounded preceding) - bytes as bytes_before
         from (
           select ${columns}, ${bytes}, next_attempt_at from hub.webhook_deliveries e
           where e.tenant_id = $1 and e.webhook_id = wanted.webhook_id and e.next_attempt_at <= now()
             and e.delivery_id <> all($5::uuid[])
           order by e.next_attempt_at, e.sequence limit wanted.n) oldest) measured
       where bytes_before < bytes_max) d`,
    [
      tx.tenantId,
      wanted.map(({ webhookId }) => webhookId),
      wanted.map(({ count }) => count),
      wanted.map(({ bytes }) => Math.max(1, Math.floor(bytes))),
      except,
    ],
  )
  return rows
}

/** Reads waiting tests. They are sent before everything else, and to disabled endpoints too. */
export async function dueTests(
  tx: TenantTx,
  webhookIds: readonly string[],
  except: readonly string[],
): Promise<DueDelivery[]> {
  const { rows } = await tx.client.query<DueDelivery>(
    `select ${columns}, ${bytes} from hub.webhook_deliveries
     where tenant_id = $1 and webhook_id = any($2::text[]) and kind = '${testEventKind}' and next_attempt_at <= now()
       and delivery_id <> all($3::uuid[])
     order by sequence limit 100`,
    [tx.tenantId, webhookIds, except],
  )
  return rows
}
