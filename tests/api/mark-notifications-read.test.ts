import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'
import { listNotifications, notificationsPath, notify } from './notification-cases.ts'
import { tokenOf } from './view-cases.ts'

const path = `${notificationsPath}:read`
let hub: TestHub
let token: string
/** The oldest first. */
const ids: string[] = []
beforeAll(async () => {
  hub = await startHub()
  token = await tokenOf(hub, 'auditor')
  ids.push(await notify(hub, 'webhook.disabled', 'webhook:whk_1'))
  ids.push(await notify(hub, 'hub.export_failed', 'export:1'))
  ids.push(await notify(hub, 'budget.threshold_reached', 'budget:bud_1'))
})
afterAll(() => hub.stop())

const mark = (body: unknown, as = token) => hub.call('acme', 'POST', path, { token: as, body })
/** The oldest first. */
const readIn = ({ body }: { body: { items: { read: boolean }[] } }) => body.items.map(({ read }) => read).reverse()

test('marks one and all before it, for the caller alone, and never goes back', async () => {
  const other = await tokenOf(hub, 'auditor')
  const answer = await mark({ record_id: ids[1]?.toUpperCase() })
  expect([answer.status, readIn(answer), answer.body.unread_count]).toEqual([200, [true, true, false], 1])
  expect(readIn(await listNotifications(hub, 'acme', other))).toEqual([false, false, false])
  expect(readIn(await mark({ record_id: ids[0] }))).toEqual([true, true, false])
  expect((await mark({ record_id: ids[2] })).body.unread_count).toBe(0)
  await notify(hub, 'hub.tamper_detected', 'record:1')
  const later = await listNotifications(hub, 'acme', token)
  expect([readIn(later), later.body.unread_count]).toEqual([[true, true, true, false], 1])
})

test('two at once leave the further position', async () => {
  const mine = await tokenOf(hub, 'auditor')
  await Promise.all([mark({ record_id: ids[2] }, mine), mark({ record_id: ids[0] }, mine)])
  expect(readIn(await listNotifications(hub, 'acme', mine)).slice(0, 3)).toEqual([true, true, true])
})

test('an id that names no notification of the tenant is 400', async () => {
  const foreign = await notify(hub, 'hub.export_failed', 'export:1', {}, 'globex')
  const other = await notify(hub, 'tenant.config_changed', 'tenant:acme')
  for (const record_id of [crypto.randomUUID(), foreign, other, 'ffffffff-ffff-7fff-8fff-ffffffffffff']) {
    const answer = await mark({ record_id })
    expect([answer.status, slugOf(answer), pointersOf(answer)]).toEqual([400, 'validation-failed', ['/record_id']])
  }
})

test.each<[string, unknown, string]>([
  ['no id', {}, '/record_id'],
  ['no UUID', { record_id: '17' }, '/record_id'],
  ['null', { record_id: null }, '/record_id'],
  ['another member', { record_id: crypto.randomUUID(), all: true }, '/all'],
])('%s is 400', async (_name, body, pointer) => {
  const answer = await mark(body)
  expect([answer.status, slugOf(answer), pointersOf(answer)]).toEqual([400, 'validation-failed', [pointer]])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path, body: { record_id: ids[0] } }),
  wrongScopes: ['telemetry:read', 'roster:read', 'hub:write'],
})
