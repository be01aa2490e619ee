import { afterAll, beforeAll, expect, test } from 'vitest'
import { notificationDays, notificationsPerKind } from '../../contract/limits.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { accessCases } from './connector-cases.ts'
import { listNotifications, notificationsPath, notify } from './notification-cases.ts'

const time = fakeClock()
let hub: TestHub
beforeAll(async () => {
  hub = await startHub({ time })
})
afterAll(() => hub.stop())

test('lists events that need attention, the newest first, and no others', async () => {
  expect((await listNotifications(hub)).body).toEqual({ items: [], unread_count: 0 })
  const older = await notify(hub, 'webhook.disabled', 'webhook:whk_1', { reason: 'failures' })
  await notify(hub, 'tenant.config_changed', 'tenant:acme')
  const newer = await notify(hub, 'budget.threshold_reached', 'budget:bud_1', { name: 'Support', threshold: 80 })
  const answer = await listNotifications(hub)
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    items: [
      {
        record_id: newer,
        ...{ event_kind: 'budget.threshold_reached', subject: 'budget:bud_1', read: false },
        details: expect.objectContaining({ name: 'Support', threshold: 80 }),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      },
      expect.objectContaining({ record_id: older, event_kind: 'webhook.disabled', read: false }),
    ],
    unread_count: 2,
  })
})

test('another tenant sees its own alone', async () => {
  const own = await notify(hub, 'hub.export_failed', 'export:1', {}, 'globex')
  const answer = await listNotifications(hub, 'globex')
  expect(answer.body.items.map(({ record_id }: { record_id: string }) => record_id)).toEqual([own])
})

test('a purged event is left out', async () => {
  const id = await notify(hub, 'hub.export_failed', 'export:2')
  const ids = async () => (await listNotifications(hub)).body.items.map((item: { record_id: string }) => item.record_id)
  expect(await ids()).toContain(id)
  const superuser = await hub.superuserClient()
  await superuser.query(
    `insert into hub.record_states (tenant_id, record_id, purged_at, purged_by, purge_reason, hard_delete_after, revision)
     values ('acme', $1, now(), 'usr_1', 'test', now() + interval '30 days', 1)`,
    [id],
  )
  expect(await ids()).not.toContain(id)
})

test('the list is bounded in time and for each kind, so that none displaces another', async () => {
  time.step({ days: notificationDays + 1 })
  expect((await listNotifications(hub)).body.items).toEqual([])
  const altered = await notify(hub, 'hub.tamper_detected', 'record:1')
  for (let count = 0; count <= notificationsPerKind; count += 1) await notify(hub, 'alert.opened', `webhook:${count}`)
  const { items, unread_count } = (await listNotifications(hub)).body
  expect([items.length, unread_count]).toEqual([notificationsPerKind + 1, notificationsPerKind + 1])
  expect([items[0].subject, items.at(-1).record_id]).toEqual([`webhook:${notificationsPerKind}`, altered])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'GET', path: notificationsPath }),
  wrongScopes: ['telemetry:read', 'roster:read', 'hub:write'],
})
