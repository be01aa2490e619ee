import { readMessages } from '../../server/modules/webhooks/outbox/outbox-message.ts'
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

/** The same as {@link outboxRows} in one list, which must be as described; afterwards it is empty. */
export async function takeTold(hub: TestHub, tenant: TestTenant) {
  const rows = await outboxRows(hub, tenant)
  const superuser = await hub.superuserClient()
  await superuser.query('delete from hub.webhook_outbox where tenant_id = $1', [tenant])
  return asDescribed(rows.flat())
}
