import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TenantTx } from '../../server/db/database.ts'
import {
  countRequeued,
  type DeliverySelection,
  deliveriesBelow,
  lookedAtMax,
  requeueAll,
} from '../../server/modules/webhooks/deliveries/deliveries-store.ts'
import type { TestHub } from '../support/hub.ts'
import { looksOfStatements } from './statement-looks.ts'
import { addWebhook, startDeliveriesHub, webhooksPath } from './stored-deliveries.ts'
import { insertDeliveries } from './webhook-rows.ts'

/** One a second; each hundredth is dead, the first of all is of a kind of its own. */
const count = 25_000
const began = '2026-07-01T00:00:00Z'

let hub: TestHub
let superuser: pg.Client
let webhookId: string
beforeAll(async () => {
  hub = await startDeliveriesHub()
  superuser = await hub.superuserClient()
  // Nothing is known of the table but what is said below.
  await superuser.query('alter table hub.webhook_deliveries set (autovacuum_enabled = off)')
  webhookId = await addWebhook(hub)
  await fill(webhookId, count)
  await superuser.query(`update hub.webhook_deliveries set kind = 'skill.alert_closed' where sequence = 1`)
})
afterAll(() => hub.stop())

async function fill(id: string, rows: number, dead = 100): Promise<void> {
  await insertDeliveries(
    superuser,
    { tenant: 'acme', webhookId: id },
    {
      count: rows,
      values: {
        status: `case when n % ${dead} = 0 then 'dead' else 'delivered' end`,
        created_at: `timestamptz '${began}' + n * interval '1 second'`,
        ...{ tries: '1', attempt_count: '1' },
      },
    },
  )
}

/** As pages are read. */
const looksOf = (work: (tx: TenantTx) => Promise<unknown>) => looksOfStatements(hub, { inIndexOrder: true }, work)

const bySequence = 'webhook_deliveries_by_sequence'
const failed = 'webhook_deliveries_failed'
const atHour = (hour: number) => `2026-07-01T0${hour}:00:00.000000Z`
/** What halving looks at, twice, and the margin about a time. */
const halving = 100

test.each<[string, DeliverySelection, number | undefined, string, number]>([
  ['the first page', {}, undefined, bySequence, 51],
  ['a page far down', {}, 500, bySequence, 51],
  ['what is dead', { status: 'dead' }, undefined, failed, 51],
  ['what is dead, far down', { status: 'dead' }, 5100, failed, 51],
  ['what failed, of which there is none', { status: 'failed' }, undefined, failed, 0],
  ['what was delivered', { status: 'delivered' }, undefined, bySequence, 60],
  ['what is dead of an hour', { status: 'dead', from: atHour(2), before: atHour(3) }, undefined, failed, 50 + halving],
  ['all of an hour', { from: atHour(2), before: atHour(3) }, undefined, bySequence, 51 + halving],
  ['a kind that there is not', { kind: 'skill.alert_opened' }, undefined, bySequence, 2 * lookedAtMax],
])('%s is read by its index, and not more of it', async (_, selection, below, index, most) => {
  for (const known of [false, true]) {
    if (known) await superuser.query('analyze hub.webhook_deliveries')
    else await superuser.query(`delete from pg_statistic where starelid = 'hub.webhook_deliveries'::regclass`)
    const look = await looksOf((tx) => deliveriesBelow(tx, webhookId, selection, below, 50))
    const isTimed = selection.from !== undefined
    expect([...look.indexes].sort()).toEqual(isTimed && index !== bySequence ? [bySequence, index] : [index])
    expect(look.rows).toBeLessThanOrEqual(most)
  }
})

test('what is to be delivered again is found by an index', async () => {
  const requeued = { statuses: ['failed', 'dead'] as const, from: atHour(2), before: atHour(3) }
  const look = await looksOf(async (tx) => {
    expect(await countRequeued(tx, webhookId, requeued, 1000)).toBe(36)
    expect(await requeueAll(tx, webhookId, { ...requeued, statuses: ['failed'] }, began)).toBe(0)
  })
  expect(look.indexes).toEqual(new Set([bySequence, failed]))
  expect(look.rows).toBeLessThan(300)
})

/** All pages of a filter, with something going on between them. */
async function walk(id: string, filter: string, between: (page: number) => Promise<unknown> = async () => {}) {
  const met: number[] = []
  const sizes: number[] = []
  for (let cursor = '', page = 0; ; page += 1) {
    const { status, body } = await hub.call('acme', 'GET', `${webhooksPath}/${id}/deliveries?${filter}${cursor}`)
    expect(status).toBe(200)
    met.push(...body.items.map(({ sequence }: { sequence: number }) => sequence))
    sizes.push(body.items.length)
    if (body.next_cursor === null) return { met, sizes }
    cursor = `&cursor=${body.next_cursor}`
    await between(page)
  }
}

const downFrom = (first: number, step = 1) =>
  Array.from({ length: Math.floor(first / step) }, (_, at) => first - at * step)

test('what is far apart takes pages that are short, and none is missed', async () => {
  expect(await walk(webhookId, 'kind=skill.alert_closed')).toEqual({ met: [1], sizes: [0, 0, 1] })
  expect(await walk(webhookId, 'kind=skill.alert_opened')).toEqual({ met: [], sizes: [0, 0, 0] })
})

test('pages meet each delivery once, while statuses change and more are queued', async () => {
  const own = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/changing' })
  await fill(own, 3000, 10)
  const change = async (page: number) => {
    await superuser.query(
      `update hub.webhook_deliveries set status = case status when 'dead' then 'failed' else 'dead' end
       where webhook_id = $1 and sequence % 10 <> 0 and sequence % 7 = $2`,
      [own, page % 7],
    )
    await hub.call('acme', 'POST', `${webhooksPath}/${own}:test`)
  }
  await superuser.query('update hub.webhook_progress set last_sequence = 3000 where webhook_id = $1', [own])
  expect((await walk(own, 'limit=250', change)).met).toEqual(downFrom(3000))
  const { met } = await walk(own, 'status=dead&limit=50', change)
  expect(new Set(met).size).toBe(met.length)
  expect(met.filter((sequence) => sequence % 10 === 0)).toEqual(downFrom(3000, 10))
})

test('times are right to the microsecond, though clocks of processes disagree', async () => {
  const own = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/clocks' })
  await fill(own, 600)
  // Each third was queued by a process whose clock is ten seconds slow.
  await superuser.query(
    `update hub.webhook_deliveries set created_at = created_at - interval '10 seconds'
     where webhook_id = $1 and sequence % 3 = 0`,
    [own],
  )
  const seconds = (sequence: number) => sequence - (sequence % 3 === 0 ? 10 : 0)
  const expected = downFrom(600).filter((sequence) => seconds(sequence) >= 200 && seconds(sequence) < 300)
  const times = 'created_at__gte=2026-07-01T00:03:20Z&created_at__lt=2026-07-01T00:05:00Z'
  expect((await walk(own, `${times}&limit=40`)).met).toEqual(expected)
  const { body } = await hub.call('acme', 'POST', `${webhooksPath}/${own}:redeliver`, {
    body: { since: '2026-07-01T00:03:20Z', until: '2026-07-01T00:05:00Z', status: 'delivered' },
  })
  expect(body.queued).toBe(expected.filter((sequence) => sequence % 100 !== 0).length)
})

test('gaps, as a retention leaves them, are no obstacle', async () => {
  const own = await addWebhook(hub, 'acme', { url: 'http://127.0.0.1:4999/gaps' })
  await fill(own, 500)
  await superuser.query(
    `delete from hub.webhook_deliveries
     where webhook_id = $1 and (sequence < 100 or sequence between 200 and 300 or sequence % 9 = 0)`,
    [own],
  )
  const there = downFrom(500).filter((n) => n >= 100 && (n < 200 || n > 300) && n % 9 !== 0)
  expect((await walk(own, 'created_at__gte=2026-07-01T00:00:00Z&limit=70')).met).toEqual(there)
  for (const second of [0, 100, 150, 199, 250, 301, 400, 500]) {
    const time = new Date(Date.parse(began) + second * 1000).toISOString()
    expect((await walk(own, `created_at__gte=${time}&limit=1000`)).met).toEqual(there.filter((n) => n >= second))
    expect((await walk(own, `created_at__lt=${time}&limit=1000`)).met).toEqual(there.filter((n) => n < second))
  }
})
