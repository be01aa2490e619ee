import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { webhookDeliveryDays } from '../../contract/limits.ts'
import { pathOf, recordsPath } from '../api/record-cases.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { operator } from '../auth/auth-lab.ts'
import type { TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { takeMessages } from './queued-messages.ts'
import type { Behaviour } from './receiver-behaviours.ts'
import { answer } from './receiver-behaviours.ts'
import { type LabWebhook, startWebhookLab, type WebhookLab } from './webhook-lab.ts'

let lab: WebhookLab
beforeAll(async () => {
  lab = await startWebhookLab()
  await prepareTelemetry(lab.hub, 'acme')
})
afterAll(() => lab.stop())

const call = async (method: string, path: string, body?: object, tenant: string = 'acme') =>
  (await lab.must(tenant as TestTenant, method, path, body ? { body } : {})).body
const needle = `zq${randomBytes(12).toString('hex')}`
const tables = ['webhook_outbox', 'webhook_deliveries', 'webhook_alerts', 'webhook_progress', 'webhooks']

/** Tables of webhooks in which a text stands somewhere, and statistics of any. */
async function tablesWith(text: string): Promise<string[]> {
  await lab.superuser.query('analyze')
  const found: string[] = []
  for (const table of [...tables.map((name) => `hub.${name}`), 'pg_statistic']) {
    const { rows } = await lab.superuser.query(`select from ${table} t where strpos(t::text, $1) > 0 limit 1`, [text])
    if (rows.length > 0) found.push(table)
  }
  return found
}

/** Takes it, and repeats what it was sent. */
const echo =
  (status: number): Behaviour =>
  (response) =>
    void response.writeHead(status, { 'x-repeated': needle, 'content-type': 'text/plain' }).end(`I heard ${needle}`)

/** Purges records, and erases them at once. */
async function erase(...ids: string[]): Promise<void> {
  for (const id of ids) {
    const { record_type } = await call('GET', pathOf(id))
    if (record_type === 'governance_event') await call('POST', pathOf(id, '/legal-hold-releases'), { reason: 'test' })
    await call('DELETE', pathOf(id, '?reason=test'))
  }
  const acme = await lab.hub.tenant('acme')
  const { erased } = await lab.hub.modules.hub.erasure.run(acme, { asOf: '2999-01-01T00:00:00.000000Z' })
  expect(erased).toBe(ids.length)
}

const detailsOf = async ({ path }: LabWebhook, deliveryId: string) => call('GET', `${path}/deliveries/${deliveryId}`)

describe('when a record is erased', () => {
  test('its deliveries say only that there was one, and what waits is given up', async () => {
    const events = ['governance.custom.*']
    const took = await lab.connect({ events, behaviour: echo(200) })
    const failed = await lab.connect({ events, behaviour: echo(500) })
    const written = { record_type: 'governance_event', event_kind: `custom.${needle}`, details: { who: needle } }
    const { record_id } = await call('POST', recordsPath, written)
    const [delivered] = await took.deliveriesWhen(([row]) => row?.status === 'delivered')
    const [open] = await failed.deliveriesWhen(([row]) => row?.status === 'failed')
    took.receiving.behaviour = answer(200)
    failed.receiving.behaviour = answer(500)
    const another = { ...written, event_kind: 'custom.other', details: {} }
    const { record_id: other } = await call('POST', recordsPath, another)
    await failed.deliveriesWhen(([, row]) => row?.status === 'failed')
    expect(await detailsOf(took, delivered!.delivery_id)).toMatchObject({
      kind: `governance.custom.${needle}`,
      body: { data: { record_id, details: { who: needle } } },
      attempts: [{ response: { body: `I heard ${needle}`, headers: { 'x-repeated': needle } } }],
    })
    expect(await tablesWith(needle)).toEqual(['hub.webhook_deliveries'])

    await erase(record_id)

    expect(await tablesWith(needle)).toEqual([])
    const after = await detailsOf(took, delivered!.delivery_id)
    expect(after).toMatchObject({
      kind: 'governance.custom.erased',
      status: 'delivered',
      sequence: delivered!.sequence,
    })
    expect(after.body).not.toHaveProperty('data')
    expect(after.attempts[0].response).toEqual({ status: 200, headers: {} })
    const dead = await detailsOf(failed, open!.delivery_id)
    expect(dead).toMatchObject({ status: 'dead', attempt_count: 1, attempts: [{ error: expect.anything() }] })
    expect(dead).not.toHaveProperty('next_attempt_at')
    // And can not be told again.
    const again = await lab.hub.call('acme', 'POST', `${failed.path}/deliveries/${open!.delivery_id}:redeliver`)
    expect(again.status).toBe(409)
    await call('POST', `${failed.path}:redeliver`, { since: '2026-01-01T00:00:00Z' })
    const [first, second] = await failed.deliveriesWhen(([, row]) => row?.attempt_count === 2)
    expect([first!.status, first!.attempt_count]).toEqual(['dead', 1])
    // Others are as they were.
    const kept = await detailsOf(failed, second!.delivery_id)
    expect(kept).toMatchObject({ kind: 'governance.custom.other', body: { data: { record_id: other } } })
  })

  test('what is in the outbox about it goes, and nothing else', async () => {
    await lab.hub.modules.webhooks.worker.stop()
    const { outbox } = lab.hub.modules.webhooks
    const decision = {
      ...{ record_type: 'decision', decision_id: 'D', decision_subject: 's', decision_outcome: 'o' },
      ...{ decision_rationale: 'r', decision_actor_role: 'lead' },
    }
    const ids = [await call('POST', recordsPath, decision), await call('POST', recordsPath, decision)]
    const [erased, kept] = ids.map(({ record_id }) => record_id as string)
    await takeMessages(lab.hub)
    const message = (recordId: string) => ({
      ...{
        kind: 'skill.invocation_failed',
        occurredAt: '2026-11-22T00:00:00.000000Z',
        data: { of: recordId },
        recordId,
      },
    })
    await lab.hub.test.database.withTenant('acme', async (tx) => {
      await outbox.add(tx, [message(erased!), message(kept!)])
      await outbox.add(tx, [message(erased!)])
      await outbox.add(tx, [{ ...message(kept!), data: { mentions: erased! } }])
    })
    await erase(erased!)
    const left = (await takeMessages(lab.hub)).filter(({ kind }) => kind.startsWith('skill.'))
    expect(left.map(({ data }) => data)).toEqual([{ of: kept }, { mentions: erased }])
    lab.hub.modules.webhooks.worker.start()
  })
})

test('what names a user goes with the last record of theirs', async () => {
  const user = `user:${needle}@example.com`
  const write = async () => (await call('POST', '/api/v1/telemetry/events', event({ user_id: user }))).record_id
  const [one, two] = [await write(), await write()]
  const webhook = await lab.connect({ behaviour: answer(500) })
  const opened = { ...{ kind: 'skill.alert_opened', occurredAt: '2026-11-22T00:00:00.000000Z' }, userId: user }
  await lab.tell('acme', [{ ...opened, data: { key: user } }], [webhook.webhookId])
  const [delivery] = await webhook.deliveriesWhen(([row]) => row?.status === 'failed')
  await erase(one)
  expect((await detailsOf(webhook, delivery!.delivery_id)).body.data).toEqual({ key: user })
  await erase(two)
  const after = await detailsOf(webhook, delivery!.delivery_id)
  expect([after.status, after.body.data]).toEqual(['dead', undefined])
  expect(await tablesWith(needle)).toEqual([])
})

test('the contents that a customer’s key protects are in no delivery', async () => {
  const { administration } = lab.hub.modules.tenants
  await administration.create({ slug: 'bmode', mode: 'B', adminEmail: 'admin@bmode.example' }, operator)
  await call('POST', '/api/v1/hub/provision', { cmek: { provider: 'local', key_ref: 'k1' } }, 'bmode')
  const webhook = await lab.connect({ tenant: 'bmode' as TestTenant, events: ['governance.custom.*'] })
  const written = {
    record_type: 'governance_event',
    event_kind: 'custom.kept',
    subject: needle,
    details: { a: needle },
  }
  await call('POST', recordsPath, written, 'bmode')
  const [delivery] = await webhook.deliveriesWhen(([row]) => row?.status === 'delivered')
  expect(delivery!.kind).toBe('governance.custom.kept')
  expect(webhook.receiving.received[0]!.raw.toString()).not.toContain(needle)
  expect(await tablesWith(needle)).toEqual([])
  await call('POST', '/api/v1/hub/cmek:destroy', { confirm: 'bmode', reason: 'over' }, 'bmode')
  expect(await tablesWith(needle)).toEqual([])
})

test('deliveries are kept for 28 days, and each tenant has its own', async () => {
  const [chore] = lab.hub.modules.webhooks.chores
  const webhook = await lab.connect()
  await lab.tell('acme', 3, [webhook.webhookId])
  const rows = await webhook.deliveriesWhen((all) => all.filter(({ status }) => status === 'delivered').length === 3)
  const run = (tenant: string) => lab.hub.test.database.withTenant(tenant, (tx) => chore!.run(tx))
  const agedMs = (days: number) => Date.now() - days * 86_400_000
  for (const [at, days] of [webhookDeliveryDays + 1, webhookDeliveryDays - 1].entries()) {
    const hex = agedMs(days).toString(16).padStart(12, '0')
    const aged = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
    await lab.superuser.query('update hub.webhook_deliveries set delivery_id = $2 where delivery_id = $1', [
      rows[at]!.delivery_id,
      aged,
    ])
  }
  await run('globex')
  expect(await webhook.deliveries()).toHaveLength(3)
  expect(await run('acme')).toBe(false)
  expect((await webhook.deliveries()).map(({ sequence }) => sequence)).toEqual([2, 3])
})
