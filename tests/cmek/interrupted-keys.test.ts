import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { type ModeB, modeB, provisionPath } from './mode-b-lab.ts'

/** Keys are outside of the database, and a commit can fail after they were made or destroyed. */

const records = '/api/v1/hub/records'
const choice = { cmek: { provider: 'local', key_ref: 'k1' } }
let hub: TestHub
let client: pg.Client
let b: ModeB

beforeAll(async () => {
  hub = await startHub()
  client = await hub.superuserClient()
  b = await modeB(hub, 'interrupted')
  await client.query(`
    create function public.fail() returns trigger language plpgsql as $$ begin raise exception 'no commit'; end $$`)
})
afterAll(() => hub.stop())

/** While nothing that touches content keys can be committed. */
async function withoutCommits<T>(work: () => Promise<T>): Promise<T> {
  await client.query(`
    create constraint trigger fail after insert or update on hub.content_keys
    deferrable initially deferred for each row execute function public.fail()`)
  try {
    return await work()
  } finally {
    await client.query('drop trigger fail on hub.content_keys')
  }
}

const keyFiles = () => readdir(join(hub.dataDir, 'keyring', 'interrupted')).catch(() => [])
const destroy = () => b.call('POST', '/api/v1/hub/cmek:destroy', { confirm: 'interrupted', reason: 'over' })

test('a key that was made before a commit failed is taken by the next call', async () => {
  const failed = await withoutCommits(() => b.call('POST', provisionPath, choice))
  expect(failed.status).toBe(500)
  const files = await keyFiles()
  expect(files).toHaveLength(1)
  expect((await b.call('GET', provisionPath)).body).toMatchObject({ provisioned: false })
  expect(await b.events('cmek.key_created')).toEqual([])
  expect((await b.call('POST', provisionPath, choice)).body).toMatchObject({ provisioned: true })
  expect(await keyFiles()).toEqual(files)
  expect(await b.events('cmek.key_created')).toHaveLength(1)
})

test('where keys were destroyed before a commit failed, nothing opens, and a repetition tells of it', async () => {
  const { body } = await b.call('POST', records, { record_type: 'artifact', title: 'x' })
  const path = `${records}/${body.record_id}`
  expect((await b.call('GET', path)).status).toBe(200)
  expect((await withoutCommits(destroy)).status).toBe(500)
  expect(await keyFiles()).toEqual([])
  expect(await b.events('cmek.key_destroyed')).toEqual([])
  const destroyed = await destroy()
  expect(destroyed.status, destroyed.text).toBe(200)
  expect(await b.events('cmek.key_destroyed')).toHaveLength(1)
  expect((await b.call('GET', path)).body).toMatchObject({ content: 'unavailable' })
  const tenant = (await hub.modules.tenants.directory.read('interrupted'))!
  expect(await hub.modules.hub.sweeper.sweep(tenant)).toMatchObject({ failed: 0, inconsistent: 0 })
  expect((await b.call('POST', provisionPath, choice)).body).toMatchObject({ provisioned: true })
  expect((await b.call('POST', records, { record_type: 'artifact', title: 'y' })).status).toBe(201)
})
