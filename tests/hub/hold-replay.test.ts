import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import { createHoldJournal } from '../../server/modules/legal-holds/hold-journal.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { decisionDraft, purge, tenantTables, writeSealed } from './attack-scenes.ts'

let hub: TestHub
let superuser: pg.Client
let acme: Tenant
let time: FakeClock

beforeEach(async () => {
  time = fakeClock()
  hub = await startHub({ time })
  superuser = await hub.superuserClient()
  acme = await hub.tenant('acme')
})
afterEach(() => hub.stop())

const call = async (method: string, path: string, body?: object) => {
  const { status, body: answer } = await hub.call('acme', method, `/api/v1/hub/${path}`, body && { body })
  return { status, body: answer }
}

const place = async (scope: object) =>
  (await call('POST', 'legal-holds', { name: 'Case 7', reason: 'lawsuit', ...scope })).body.hold_id as string

async function backUp(): Promise<void> {
  await superuser.query('create schema backup')
  for (const table of await tenantTables(superuser)) {
    await superuser.query(`create table backup.${table.slice(4)} as select * from ${table} where tenant_id = 'acme'`)
  }
}

async function restore(): Promise<void> {
  for (const table of await tenantTables(superuser)) {
    await superuser.query(`delete from ${table} where tenant_id = 'acme'`)
    await superuser.query(`insert into ${table} select * from backup.${table.slice(4)}`)
  }
}

const reapply = () =>
  hub.modules.hub.holdsAfterRestore.reapply(acme, createHoldJournal(hub.modules.storage), { operator: 'test' })

test('what was held after the backup is held again, even where its recovery period is over meanwhile', async () => {
  const [named, matching, free] = await writeSealed(hub, acme, ...['a', 'b', 'c'].map(decisionDraft))
  for (const id of [named!, matching!, free!]) await purge(hub, 'acme', id)
  await backUp()
  const first = await place({ record_ids: [named] })
  const second = await place({ filter: { record_id: matching } })
  time.step({ days: 31 })
  await restore()
  expect((await call('GET', `records/${named}`)).status).toBe(404)

  expect(await reapply()).toEqual({ placed: 2, released: 0 })
  expect(await reapply()).toEqual({ placed: 0, released: 0 })
  expect(await hub.modules.hub.erasure.run(acme)).toMatchObject({ erased: 1 })
  for (const id of [named, matching]) {
    const { status, body } = await call('GET', `records/${id}?verify=true`)
    expect({ status, verified: body.verification?.verified }).toEqual({ status: 200, verified: true })
  }
  for (const id of [first, second])
    expect((await call('GET', `legal-holds/${id}`)).body).toMatchObject({ active: true })
  const events = await call('GET', 'records?event_kind=hub.legal_hold_applied')
  expect(events.body.records.map((event: { details: object }) => event.details)).toEqual([
    expect.objectContaining({ actor: 'operator:test', restored: true }),
    expect.objectContaining({ actor: 'operator:test', restored: true }),
  ])
  expect(await hub.modules.hub.sweeper.sweep(acme)).toMatchObject({ failed: 0, inconsistent: 0 })

  // And let go as any other.
  for (const id of [first, second]) {
    expect((await call('POST', `legal-holds/${id}:release`, { reason: 'settled' })).status).toBe(200)
  }
  time.step({ days: 31 })
  expect(await hub.modules.hub.erasure.run(acme)).toMatchObject({ erased: 2 })
  expect(await hub.modules.hub.sweeper.sweep(acme)).toMatchObject({ failed: 0, inconsistent: 0 })
})

test('what was released after the backup is released again, and what came and went stays away', async () => {
  const [id] = await writeSealed(hub, acme, decisionDraft('a'))
  const old = await place({ record_ids: [id] })
  await backUp()
  const passing = await place({ record_ids: [id] })
  for (const hold of [old, passing]) await call('POST', `legal-holds/${hold}:release`, { reason: 'settled' })
  const { body } = await call('GET', `legal-holds/${old}`)
  await restore()

  expect(await reapply()).toEqual({ placed: 0, released: 1 })
  expect((await call('GET', `legal-holds/${old}`)).body).toEqual(body)
  expect((await call('GET', `legal-holds/${passing}`)).status).toBe(404)
  await purge(hub, 'acme', id!)
  expect(await hub.modules.hub.sweeper.sweep(acme)).toMatchObject({ failed: 0, inconsistent: 0 })
})

test('an end that could not be kept is, when the release is repeated', async () => {
  const [id] = await writeSealed(hub, acme, decisionDraft('a'))
  const hold = await place({ record_ids: [id] })
  const folder = join(hub.dataDir, 'storage', 'holds', 'acme')
  expect(await readdir(folder)).toEqual([`${hold}.json`])
  await call('POST', `legal-holds/${hold}:release`, { reason: 'settled' })
  const names = (await readdir(folder)).sort()
  expect(names).toEqual([`${hold}.ended.json`, `${hold}.json`])
  await writeFile(join(folder, names[0]!), '')
  await expect(reapply()).rejects.toThrow(/it was changed/)
  expect((await call('POST', `legal-holds/${hold}:release`, { reason: 'again' })).status).toBe(200)
  expect(await reapply()).toEqual({ placed: 0, released: 0 })
})
