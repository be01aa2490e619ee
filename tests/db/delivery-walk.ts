import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { updateOutboxRow } from '../../server/modules/webhooks/outbox/outbox-store.ts'
import { writeMessages } from '../../server/modules/webhooks/outbox/webhook-outbox.ts'
import { giveUpDeliveries, saveOutcomes } from '../../server/modules/webhooks/worker/outcome-store.ts'
import { BacklogLimit } from '../../server/modules/webhooks/worker/relay.ts'
import type { TestHub } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'
import { keepDeliveries, taken } from '../webhooks/stored-deliveries.ts'

const path = '/api/v1/webhooks'
const message = { kind: 'user.updated', occurredAt: '2026-01-02T03:04:05.678901Z', data: { user_id: 'usr_1' } }

/** All that sends SQL to deliver webhooks: the worker itself, to where nobody listens. The Hub must be let out to 127.0.0.1. */
export async function walkDelivery(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const { outbox, worker } = hub.modules.webhooks
  const body = { url: 'http://127.0.0.1:9/', events: ['user.*'] }
  const { webhook_id: id } = (await hub.call(tenant, 'POST', path, { body })).body
  await hub.call(tenant, 'POST', `${path}/${id}:test`)
  const tell = () => hub.test.database.withTenant(tenant, (tx) => outbox.add(tx, [{ ...message, webhookIds: [id] }]))
  await tell()
  worker.start()
  for (const endsMs = performance.now() + scaled(30_000); ; ) {
    const { items } = (await hub.call(tenant, 'GET', `${path}/${id}/deliveries`)).body
    const attempts = items.map(({ attempt_count }: { attempt_count: number }) => attempt_count)
    // More where jobs changed people meanwhile.
    if (attempts.length >= 2 && !attempts.includes(0)) break
    if (performance.now() > endsMs) throw new Error(`not delivered: ${JSON.stringify(items)}`)
    await delay(20)
  }
  // Gives its leases back.
  await worker.stop()
  await hub.test.database.withTenant(tenant, async (tx) => {
    await giveUpDeliveries(tx, id, 10)
    // As of a row of which a part was relayed, and of a delivery that was changed while it was on its way.
    await updateOutboxRow(tx, randomUUID(), writeMessages([]))
    const delivery = { delivery_id: randomUUID(), webhook_id: id, tries: 0, attempt_count: 0 }
    await saveOutcomes(tx, [{ delivery, status: 'delivered', attempts: [taken], counts: true, isGone: false }], 120)
  })
  await tellTooMuch(hub, tenant, id)
  // For the next worker.
  await tell()
}

/** More waits than may; then it does not. */
async function tellTooMuch(hub: TestHub, tenant: 'acme' | 'globex', webhookId: string): Promise<void> {
  await keepDeliveries(hub, tenant, webhookId, [{ status: 'failed' }])
  const overflow = new BacklogLimit({ database: hub.test.database, endpoints: hub.modules.webhooks.endpoints }, 0)
  for (let looks = 0; looks < 2; looks += 1) await overflow.check(await hub.tenant(tenant), [webhookId])
}
