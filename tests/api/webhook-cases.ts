import type { Answer, CallOptions, TestHub, TestTenant } from '../support/hub.ts'
import { insertDeliveries } from '../webhooks/webhook-rows.ts'

export const webhooksPath = '/api/v1/webhooks'

export const webhookBody = (change: object = {}) => ({
  url: 'https://hooks.acme.example/hub',
  events: ['user.*'],
  ...change,
})

/** A call that must succeed. */
export async function must(
  hub: TestHub,
  tenant: TestTenant,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const answer = await hub.call(tenant, method, path, options)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer
}

/** A new endpoint, as it was answered. */
export async function addWebhook(hub: TestHub, tenant: TestTenant = 'acme', change: object = {}) {
  return (await must(hub, tenant, 'POST', webhooksPath, { body: webhookBody(change) })).body
}

/** Governance events about endpoints, the oldest first. */
export async function webhookEventsOf(hub: TestHub, tenant: TestTenant, subject?: string) {
  const query = 'record_type=governance_event&limit=1000&sort=created_at'
  const { records } = (await must(hub, tenant, 'GET', `/api/v1/hub/records?${query}`)).body
  const isIt = (event: { subject: string }) => (subject ? event.subject === subject : /^webhook:/.test(event.subject))
  return records.filter(isIt)
}

/** What deliveries to it are signed with now. */
export async function secretsOf(hub: TestHub, tenant: TestTenant, webhookId: string) {
  const of = await hub.tenant(tenant)
  return hub.test.database.withTenant(tenant, (tx) => hub.modules.webhooks.endpoints.secretsOf(tx, of, webhookId))
}

/** Changes how delivery to an endpoint goes, as a worker does. */
export async function setProgress(hub: TestHub, webhookId: string, columns: Record<string, string | number | null>) {
  const superuser = await hub.superuserClient()
  const names = Object.keys(columns)
  await superuser.query(
    `update hub.webhook_progress set ${names.map((name, at) => `${name} = $${at + 2}`).join(', ')} where webhook_id = $1`,
    [webhookId, ...Object.values(columns)],
  )
}

/** Deliveries in the database, as many as are asked for, all of one status. */
export async function addDeliveries(
  hub: TestHub,
  tenant: TestTenant,
  webhookId: string,
  { status, count, from = 1 }: { status: 'pending' | 'failed' | 'delivered' | 'dead'; count: number; from?: number },
) {
  const isOpen = status === 'pending' || status === 'failed'
  const values = { status: `'${status}'`, next_attempt_at: isOpen ? 'now()' : 'null' }
  await insertDeliveries(await hub.superuserClient(), { tenant, webhookId }, { from, count, values })
}

export async function countRows(hub: TestHub, table: string, webhookId: string): Promise<number> {
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query(`select count(*)::int as count from hub.${table} where webhook_id = $1`, [
    webhookId,
  ])
  return rows[0].count
}
