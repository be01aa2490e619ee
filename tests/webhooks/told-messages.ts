import { type QueuedMessage, readMessages } from '../../server/modules/webhooks/outbox/outbox-message.ts'
import { addWebhook } from '../api/webhook-cases.ts'
import type { TestHub } from '../support/hub.ts'
import { asDescribed } from './described-messages.ts'

/** What waits in the outbox of a tenant, in its order, and is taken out of it: nothing else relays it. */
export async function takeMessages(hub: TestHub, tenant = 'acme'): Promise<QueuedMessage[]> {
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query<{ outbox_id: string; messages: string }>(
    'delete from hub.webhook_outbox where tenant_id = $1 returning outbox_id, messages',
    [tenant],
  )
  rows.sort((a, b) => (a.outbox_id < b.outbox_id ? -1 : 1))
  return rows.flatMap(({ messages }) => readMessages(messages))
}

/** What a piece of work told, and nothing before it. It must be as described. */
export async function toldBy(hub: TestHub, work: () => Promise<unknown>, tenant?: string): Promise<QueuedMessage[]> {
  await takeMessages(hub, tenant)
  await work()
  return asDescribed(await takeMessages(hub, tenant))
}

/** An endpoint that is enabled and names these. */
export function subscribe(hub: TestHub, tenant: Parameters<typeof addWebhook>[1], ...events: string[]) {
  return addWebhook(hub, tenant, { events })
}
