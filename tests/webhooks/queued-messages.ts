import { type QueuedMessage, readMessages } from '../../server/modules/webhooks/outbox/webhook-outbox.ts'
import { addWebhook } from '../api/webhook-cases.ts'
import type { TestHub, TestTenant } from '../support/hub.ts'
import { asDescribed } from './described-messages.ts'

/** What waits in the outbox of a tenant, a row after the other; where no worker runs it stays there. */
export async function outboxRows(hub: TestHub, tenant: TestTenant) {
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query<{ messages: string }>(
    'select messages from hub.webhook_outbox where tenant_id = $1 order by outbox_id',
    [tenant],
  )
  return rows.map(({ messages }) => readMessages(messages))
}

/** What waits, in its order, and is taken out of the outbox. It must be as described. */
export async function takeDescribed(hub: TestHub, tenant: string = 'acme'): Promise<QueuedMessage[]> {
  return asDescribed(await takeMessages(hub, tenant))
}

/** The same, whatever it is. */
export async function takeMessages(hub: TestHub, tenant: string = 'acme'): Promise<QueuedMessage[]> {
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query<{ outbox_id: string; messages: string }>(
    'delete from hub.webhook_outbox where tenant_id = $1 returning outbox_id, messages',
    [tenant],
  )
  rows.sort((a, b) => (a.outbox_id < b.outbox_id ? -1 : 1))
  return rows.flatMap(({ messages }) => readMessages(messages))
}

/** What a piece of work told, and nothing before it. It must be as described. */
export async function messagesSentBy(
  hub: TestHub,
  work: () => Promise<unknown>,
  tenant?: string,
): Promise<QueuedMessage[]> {
  await takeMessages(hub, tenant)
  await work()
  return takeDescribed(hub, tenant)
}

/** An endpoint that is enabled and names these. */
export function subscribe(hub: TestHub, tenant: TestTenant, ...events: string[]) {
  return addWebhook(hub, tenant, { events })
}
