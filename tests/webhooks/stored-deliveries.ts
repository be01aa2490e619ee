import { escapeLiteral } from 'pg'
import type { DeliveryAttempt, DeliveryStatus } from '../../server/modules/webhooks/webhooks-types.ts'
import { addWebhook as addedWebhook } from '../api/webhook-cases.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { insertDeliveries, nextSequence } from './webhook-rows.ts'

export { webhooksPath } from '../api/webhook-cases.ts'

/** A hub whose deliveries nobody works on. */
export function startDeliveriesHub(): Promise<TestHub> {
  return startHub({ settings: { HUB_OUTBOUND_ALLOW: '127.0.0.1' } })
}

/** Adds an endpoint at an address where nobody listens, and answers its id. */
export async function addWebhook(hub: TestHub, tenant: TestTenant = 'acme', settings: object = {}): Promise<string> {
  return (await addedWebhook(hub, tenant, { url: 'http://127.0.0.1:4999/hook', ...settings })).webhook_id
}

export const taken: DeliveryAttempt = {
  at: '2026-07-01T09:30:00.100000Z',
  duration_ms: 84,
  url: 'http://127.0.0.1:4999/hook',
  request_headers: { 'x-service-signature': 't=1782898200,v1=00', 'content-type': 'application/json' },
  response: { status: 200, headers: { 'content-type': 'text/plain' }, body: 'ok' },
}

export const refused: DeliveryAttempt = {
  at: '2026-07-01T09:29:55.100000Z',
  duration_ms: 12,
  url: 'http://127.0.0.1:4999/hook',
  request_headers: { 'x-service-signature': 't=1782898195,v1=00' },
  response: { status: 503, headers: {} },
  error: { code: 'http-5xx', detail: 'The receiver responded 503, which is not a success.' },
  retry_after_seconds: 5,
}

export interface KeptDelivery {
  status?: DeliveryStatus
  kind?: string
  /** RFC 3339; of the queueing. */
  createdAt?: string
  data?: object | null
  attempts?: DeliveryAttempt[]
}

/** Deliveries as a worker leaves them, in the order of their sequence, which goes on; answers their ids. */
export async function keepDeliveries(
  hub: TestHub,
  tenant: TestTenant,
  webhookId: string,
  rows: readonly KeptDelivery[],
): Promise<string[]> {
  return hub.test.database.withTenant(tenant, async ({ client }) => {
    const ids: string[] = []
    for (const { status = 'delivered', kind = 'user.updated', createdAt, data = { n: ids.length }, attempts } of rows) {
      const made = attempts ?? { pending: [], delivered: [refused, taken], failed: [refused], dead: [refused] }[status]
      const at = escapeLiteral(createdAt ?? new Date().toISOString())
      const values = {
        ...{ kind: escapeLiteral(kind), status: escapeLiteral(status), occurred_at: at, created_at: at },
        data: data === null ? 'null' : escapeLiteral(JSON.stringify(data)),
        attempts: escapeLiteral(JSON.stringify(made)),
        tries: String(made.length),
        attempt_count: String(made.length),
        next_attempt_at: status === 'pending' || status === 'failed' ? `'2026-07-01T10:00:00Z'` : 'null',
        delivered_at: status === 'delivered' ? escapeLiteral(taken.at) : 'null',
      }
      const from = await nextSequence(client, { tenant, webhookId })
      ids.push(...(await insertDeliveries(client, { tenant, webhookId }, { from, values })))
    }
    return ids
  })
}

/** Governance events about the endpoint, the oldest first, as their details. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
export async function ordersOf(hub: TestHub, webhookId: string, tenant: TestTenant = 'acme'): Promise<any[]> {
  const query = 'record_type=governance_event&event_kind=tenant.config_changed&limit=1000&sort=created_at'
  const { records } = (await hub.call(tenant, 'GET', `/api/v1/hub/records?${query}`)).body
  return records
    .filter(({ subject }: { subject: string }) => subject === `webhook:${webhookId}`)
    .map(({ details }: { details: object }) => details)
    .filter(({ change }: { change: string }) => change !== 'webhook_added')
}
