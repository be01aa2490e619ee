import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TenantTx } from '../../server/db/database.ts'
import { dueDeliveries, dueTests, endpointStates } from '../../server/modules/webhooks/worker/delivery-queue-store.ts'
import { giveUpDeliveries, type Outcome, saveOutcomes } from '../../server/modules/webhooks/worker/outcome-store.ts'
import type { TestHub } from '../support/hub.ts'
import { looksOfStatements } from './statement-looks.ts'
import { addWebhook, startDeliveriesHub } from './stored-deliveries.ts'
import { insertDeliveries } from './webhook-rows.ts'

/** Of one endpoint: what was delivered, and what is due. */
const delivered = 20_000
const due = 20_000

let hub: TestHub
let superuser: pg.Client
let webhookId: string
beforeAll(async () => {
  hub = await startDeliveriesHub()
  superuser = await hub.superuserClient()
  await superuser.query('alter table hub.webhook_deliveries set (autovacuum_enabled = off)')
  webhookId = await addWebhook(hub)
  await fill('globex', await addWebhook(hub, 'globex'))
  await superuser.query('analyze hub.webhook_deliveries')
  await fill('acme', webhookId)
})
afterAll(() => hub.stop())

async function fill(tenant: string, id: string): Promise<void> {
  const isDue = `n > ${delivered}`
  const values = {
    status: `case when ${isDue} then 'pending' else 'delivered' end`,
    next_attempt_at: `case when ${isDue} then now() end`,
  }
  await insertDeliveries(superuser, { tenant, webhookId: id }, { count: delivered + due, values })
}

/** As the worker does it, see tenant-dispatcher.ts. */
const looksOf = (work: (tx: TenantTx) => Promise<unknown>) => looksOfStatements(hub, { inIndexOrder: true }, work)

async function someDue(count: number): Promise<string[]> {
  const { rows } = await superuser.query<{ delivery_id: string }>(
    `select delivery_id from hub.webhook_deliveries where tenant_id = 'acme' and next_attempt_at is not null
     order by sequence limit $1`,
    [count],
  )
  return rows.map(({ delivery_id }) => delivery_id)
}

describe.each(['another tenant', 'nothing', 'all'])('while PostgreSQL knows %s of the table', (known) => {
  beforeEach(async () => {
    if (known === 'all') await superuser.query('analyze hub.webhook_deliveries')
    if (known === 'nothing')
      await superuser.query(`delete from pg_statistic where starelid = 'hub.webhook_deliveries'::regclass`)
  })

  test('whether something is due is seen at a glance', async () => {
    const look = await looksOf(async (tx) => {
      expect(await endpointStates(tx)).toMatchObject([{ webhook_id: webhookId, has_due: true, has_test: false }])
    })
    expect(look.rows).toBeLessThan(10)
  })

  test('what is due is read, and nothing else', async () => {
    const held = await someDue(100)
    const wanted = { webhookId, count: 500, bytes: 10_000_000 }
    const look = await looksOf(async (tx) => {
      expect(await dueDeliveries(tx, [wanted], held)).toHaveLength(500)
      expect(await dueTests(tx, [webhookId], held)).toEqual([])
    })
    expect(look.rows).toBeLessThanOrEqual(held.length + 500)
  })

  test('how attempts went is kept by the ids of deliveries', async () => {
    const outcomes = (await someDue(200)).map((delivery_id): Outcome => {
      const delivery = { delivery_id, webhook_id: webhookId, tries: 0, attempt_count: 0 }
      return { delivery, status: 'delivered', attempts: [], counts: true, isGone: false }
    })
    const look = await looksOf((tx) => saveOutcomes(tx, outcomes, 120))
    expect(await someDue(1)).not.toEqual([outcomes[0]?.delivery.delivery_id])
    // With the progress of the endpoint; and again, because what was explained was done: then attempts are logged alone.
    expect(look.rows).toBeLessThanOrEqual(outcomes.length * 3 + 2)
    expect(look.indexes).toContain('webhook_deliveries_pkey')
  })

  test('what is given up is found as what is due', async () => {
    await superuser.query(`update hub.webhooks set disabled_reason = 'gone', disabled_at = now()`)
    const look = await looksOf((tx) => giveUpDeliveries(tx, webhookId, 300))
    await superuser.query('update hub.webhooks set disabled_reason = null, disabled_at = null')
    // Each is found, and then changed.
    expect(look.rows).toBeGreaterThanOrEqual(600)
    expect(look.rows).toBeLessThan(610)
  })
})
