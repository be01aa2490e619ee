import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { inboundMessageDays } from '../../contract/limits.ts'
import { prepareTelemetry, telemetryIds } from '../api/telemetry-tenants.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { addPlatform, addProvider, type Connection, invoked, person, send } from './inbound-lab.ts'

let hub: TestHub
let platform: Connection
let provider: Connection
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
  platform = await addPlatform(hub)
  provider = await addProvider(hub)
})
afterAll(() => hub.stop())

const all = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))
const people = async () => (await hub.call('acme', 'GET', '/api/v1/roster/users?limit=1000')).body.items
const eventsCount = async () => (await telemetryIds(hub, 'acme')).length
const query = async (text: string, values: unknown[] = []) => (await hub.superuserClient()).query(text, values)

test('a telemetry message that comes many times at the same time has one effect', async () => {
  const before = await eventsCount()
  const message = invoked()
  const answers = await all(12, () => send(hub, platform, message))
  expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200))
  expect(answers.filter(({ body }) => body.status === 'accepted')).toHaveLength(1)
  expect(await eventsCount()).toBe(before + 1)
})

test('as do many of one id that say different things', async () => {
  const before = await eventsCount()
  const message = invoked()
  const answers = await all(8, (at) => send(hub, platform, { ...message, data: { ...message.data, tokens_in: at } }))
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
  expect(answers.filter(({ body }) => body.status === 'accepted')).toHaveLength(1)
  expect(await eventsCount()).toBe(before + 1)
})

test('a message about a person that comes many times at the same time has one effect', async () => {
  const before = (await people()).length
  const message = person('provisioned', { user_name: 'many', external_id: 'many' })
  const answers = await all(8, (at) =>
    send(hub, provider, { ...message, data: { ...message.data, display_name: `M ${at}` } }),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
  expect(answers.filter(({ body }) => body.status === 'accepted')).toHaveLength(1)
  expect(await people()).toHaveLength(before + 1)
  const { rows } = await query(`select count(*)::int as count from hub.inbound_messages where message_id = $1`, [
    message.id,
  ])
  expect(rows[0].count).toBe(1)
})

test('messages about the same people at the same time come out in some order', async () => {
  const kinds = ['provisioned', 'updated', 'deactivated'] as const
  const answers = await all(18, (at) => {
    const name = `rush-${at % 2}`
    return send(hub, provider, person(kinds[at % 3]!, { user_name: name, external_id: name }))
  })
  expect(answers.map(({ status }) => status)).toEqual(Array(18).fill(200))
  const { rows } = await query(`select user_name from hub.directory_users where user_name like 'rush-%' order by 1`)
  expect(rows.map((row) => row.user_name)).toEqual(['rush-0', 'rush-1'])
})

test('an event whose note was lost, as in a crash, is not stored again', async () => {
  const message = invoked()
  await send(hub, platform, message)
  const before = await eventsCount()
  for (const again of [message, { ...message, data: { ...message.data, latency_ms: 9 } }]) {
    await query('delete from hub.inbound_messages where message_id = $1', [message.id])
    expect((await send(hub, platform, again)).body).toEqual({ id: message.id, status: 'duplicate' })
  }
  expect(await eventsCount()).toBe(before)
  const { rows } = await query(`select 1 from hub.inbound_messages where message_id = $1`, [message.id])
  expect(rows).toHaveLength(1)
})

test('a message whose change fails is not noted', async () => {
  const message = person('provisioned', { user_name: 'unlucky' })
  const failing = vi
    .spyOn(hub.modules.roster.directory, 'createUser')
    .mockRejectedValueOnce(new Error('the disk is full'))
  expect((await send(hub, provider, message)).status).toBe(500)
  expect(failing).toHaveBeenCalledOnce()
  expect((await send(hub, provider, message)).body.status).toBe('accepted')
})

test('ids are forgotten after fourteen days', async () => {
  const old = person('updated', { user_name: 'old', display_name: 'Old' })
  const recent = person('updated', { user_name: 'recent', display_name: 'Recent' })
  for (const each of [old, recent]) await send(hub, provider, each)
  const age = async (id: string, days: number) =>
    query(`update hub.inbound_messages set received_at = now() - make_interval(days => $2) where message_id = $1`, [
      id,
      days,
    ])
  await age(old.id, inboundMessageDays + 1)
  await age(recent.id, inboundMessageDays - 1)
  const [chore] = hub.modules.inbound.chores
  expect(await hub.test.database.withTenant('acme', (tx) => chore!.run(tx))).toBe(false)
  expect((await send(hub, provider, recent)).body.status).toBe('duplicate')
  expect((await send(hub, provider, old)).body.status).toBe('accepted')
})
