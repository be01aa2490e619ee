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

test('a key that is said to be destroyed, or is gone, is no reason for content to be missing', async () => {
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

test('only what was sealed under a destroyed key is erased with it, whatever the columns say', async () => {
  await b.call('POST', '/api/v1/hub/cmek:rotate', {})
  await write()
  const destroyed = await b.call('POST', '/api/v1/hub/cmek:destroy', { confirm: 'forged', reason: 'over' })
  expect(destroyed.body.key_ids).toHaveLength(2)
  await b.call('POST', provisionPath, { cmek: { provider: 'local', key_ref: 'k2' } })
  const later = await write()
  expect(await found()).toEqual(sound)
  const event = String((await b.events('cmek.key_created'))[0]!.record_id)

  for (const id of [event, later]) {
    for (const keyId of destroyed.body.key_ids) {
      const { rows } = await client.query('select canonical, created_by from hub.records where record_id = $1', [id])
      const put = (text: string, by: string) =>
        client.query('update hub.records set canonical = $1, created_by = $2 where record_id = $3', [text, by, id])
      await put(`omhe1.${keyId}.${id}.${Buffer.alloc(300, 7).toString('base64url')}`, 'saxForged')
      expect(await found(), `${id} ${keyId}`).toEqual({ failed: 1, verified: false, at: [`record:${id}`] })
      await put(rows[0].canonical, rows[0].created_by)
    }
  }
  expect(await found()).toEqual(sound)
})

test('an event is not hidden in the place of a record that is erased, nor under another salt', async () => {
  const event = String((await b.events('cmek.key_rotated'))[0]!.record_id)
  const { rows } = await client.query(
    `select e.salt as was, e.canonical as text, r.canonical, r.salt from hub.records e, hub.records r
     where e.record_id = $1 and r.tenant_id = 'forged' and r.record_type = 'skill_definition'`,
    [event],
  )
  const [{ was, text, canonical, salt }] = rows
  const put = (newText: string, newSalt: Buffer) =>
    client.query('update hub.records set canonical = $1, salt = $2 where record_id = $3', [newText, newSalt, event])
  await put(canonical, salt)
  expect(await found()).toEqual({ failed: 1, verified: false, at: [`record:${event}`] })
  await put(canonical, Buffer.concat([salt.subarray(0, 4), was.subarray(4)]))
  expect(await found()).toEqual({ failed: 1, verified: false, at: [`record:${event}`] })
  await put(text, was)
  expect(await found()).toEqual(sound)
})
