import type { RegistryTx, TenantTx } from '../../../db/database.ts'
import type { PreparedStatement } from '../../../db/ingest-script.ts'

/** What the endpoints that are enabled name, each name once. */
export async function wantedNames(tx: TenantTx): Promise<string[]> {
  const { rows } = await tx.client.query<{ name: string }>({
    name: 'webhooks_wanted',
    text: `select distinct unnest(events) as name from hub.webhooks
      where tenant_id = $1 and removed_at is null and disabled_at is null`,
    values: [tx.tenantId],
  })
  return rows.map(({ name }) => name)
}

/** A row of a transaction of either role. */
export const insertOutboxRow: PreparedStatement = {
  name: 'webhook_outbox_insert',
  text: 'insert into hub.webhook_outbox (tenant_id, outbox_id, messages) values ($1, $2, $3)',
}

export async function insertOutbox(tx: TenantTx, outboxId: string, messages: string): Promise<void> {
  await tx.client.query({ ...insertOutboxRow, values: [tx.tenantId, outboxId, messages] })
}

export async function deleteOutboxRows(tx: TenantTx, outboxIds: readonly string[]): Promise<void> {
  await tx.client.query('delete from hub.webhook_outbox where tenant_id = $1 and outbox_id = any($2::uuid[])', [
    tx.tenantId,
    outboxIds,
  ])
}

/** Of which a part was taken, or forgotten. */
export async function updateOutboxRow(tx: TenantTx, outboxId: string, messages: string): Promise<void> {
  await tx.client.query('update hub.webhook_outbox set messages = $3 where tenant_id = $1 and outbox_id = $2', [
    tx.tenantId,
    outboxId,
    messages,
  ])
}

/** Wakes the processes that deliver. */
export const webhooksChannel = 'hub_webhooks'

/** A notification has 8,000 bytes at most, and a slug 63. */
const tenantsPerNotification = 100

/** Names the tenants, some marked, to whoever listens, once this transaction commits. */
export async function notifyWebhooks(tx: RegistryTx, tenantIds: readonly string[]): Promise<void> {
  for (let at = 0; at < tenantIds.length; at += tenantsPerNotification) {
    const some = tenantIds.slice(at, at + tenantsPerNotification).join(' ')
    await tx.client.query('select pg_notify($1, $2)', [webhooksChannel, some])
  }
}
