import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLogAudit } from '../../server/modules/log/audit/log-audit.ts'
import { type ModeB, modeB, provisionPath } from '../cmek/mode-b-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'

/** What somebody cannot hide who may write to the database, and has no keys. */

const records = '/api/v1/hub/records'
let hub: TestHub
let b: ModeB
let client: pg.Client

beforeAll(async () => {
  hub = await startHub()
  client = await hub.superuserClient()
  b = await modeB(hub, 'forged')
  await b.ready()
  await write()
})
afterAll(() => hub.stop())

async function write(): Promise<string> {
  const answer = await b.call('POST', records, { record_type: 'artifact', title: 'Xylophone' })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.record_id
}

const tenant = async () => (await hub.modules.tenants.directory.read('forged'))!

/** Once this process has read the keys again. */
async function found() {
  await delay(4_600)
  const logs = createLogAudit({
    database: hub.test.database,
    logs: hub.modules.log.logs,
    keys: hub.modules.keys.provenance,
  })
  const { verified, failures } = await logs.audit(await tenant(), [])
  const { failed } = await hub.modules.hub.sweeper.sweep(await tenant())
  return { failed, verified, at: failures.map((failure) => failure.at) }
}

const sound = { failed: 0, verified: true, at: [] }

test('a key that is said to be destroyed, or is gone, is no reason for content to be missing', {
  timeout: 60_000,
}, async () => {
  await client.query(`create table public.kept_keys as table hub.content_keys`)
  const back = async () => {
    await client.query(`delete from hub.content_keys where tenant_id = 'forged'`)
    await client.query(`insert into hub.content_keys select * from public.kept_keys`)
  }
  const [event] = await b.events('cmek.key_created')
  for (const forgery of [
    `update hub.content_keys set state = 'destroyed' where tenant_id = 'forged'`,
    `update hub.content_keys set state = 'destroyed', event_id = '${event!.record_id}' where tenant_id = 'forged'`,
    `delete from hub.content_keys where tenant_id = 'forged'`,
  ]) {
    await client.query(forgery)
    expect(await found(), forgery).toMatchObject({ failed: 2, verified: false })
    await back()
  }
  expect(await found()).toEqual(sound)
})

test('an event of the service does not go with a key that was destroyed', { timeout: 60_000 }, async () => {
  const destroyed = await b.call('POST', '/api/v1/hub/cmek:destroy', { confirm: 'forged', reason: 'over' })
  const [keyId] = destroyed.body.key_ids
  await b.call('POST', provisionPath, { cmek: { provider: 'local', key_ref: 'k2' } })
  await write()
  expect(await found()).toEqual(sound)
  const [event] = await b.events('cmek.key_created')
  const id = event!.record_id
  const { rows } = await client.query('select canonical from hub.records where record_id = $1', [id])
  const put = (text: string) => client.query('update hub.records set canonical = $1 where record_id = $2', [text, id])
  await put(`omhe1.${keyId}.${id}.AAAA`)
  expect(await found()).toEqual({ failed: 1, verified: false, at: [`record:${id}`] })
  await put(rows[0].canonical)
  expect(await found()).toEqual(sound)
})
