import { testEventKind } from '../../../../contract/webhook-events.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { MessageRow } from '../deliveries/message-body.ts'
import type { DeliveryAttempt } from '../delivery-types.ts'

/** A delivery that is to be attempted. */
export interface DueDelivery extends MessageRow {
  delivery_id: string
  webhook_id: string
  /** Since it was queued, and in all. */
  tries: number
  attempt_count: number
  /** Those that are kept, the last one at the end. */
  attempts: DeliveryAttempt[]
}

/** How many deliveries of an endpoint are wanted. */
export interface Wanted {
  webhookId: string
  count: number
}

const columns = `delivery_id, webhook_id, sequence, message_id, kind, occurred_at, data, tries, attempt_count, attempts`

/** Those that are due the longest, of each endpoint, in a transaction of `inIndexOrder`. @param except deliveries that this process has already */
export async function dueDeliveries(
  tx: TenantTx,
  wanted: readonly Wanted[],
  except: readonly string[],
): Promise<DueDelivery[]> {
  const { rows } = await tx.client.query<DueDelivery>(
    `select d.* from unnest($2::text[], $3::int[]) as wanted (webhook_id, n)
     cross join lateral (
       select ${columns} from hub.webhook_deliveries e
       where e.tenant_id = $1 and e.webhook_id = wanted.webhook_id and e.next_attempt_at <= now()
         and e.delivery_id <> all($4::uuid[])
       order by e.next_attempt_at, e.sequence limit wanted.n) d`,
    [tx.tenantId, wanted.map(({ webhookId }) => webhookId), wanted.map(({ count }) => count), except],
  )
  return rows
}

/** Tests that wait: they are sent before everything else, and to endpoints that are disabled too. */
export async function dueTests(
  tx: TenantTx,
  webhookIds: readonly string[],
  except: readonly string[],
): Promise<DueDelivery[]> {
  const { rows } = await tx.client.query<DueDelivery>(
    `select ${columns} from hub.webhook_deliveries
     where tenant_id = $1 and webhook_id = any($2::text[]) and kind = '${testEventKind}' and next_attempt_at <= now()
       and delivery_id <> all($3::uuid[])
     order by sequence limit 100`,
    [tx.tenantId, webhookIds, except],
  )
  return rows
}
