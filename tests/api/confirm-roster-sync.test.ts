import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SyncLab, startSyncLab, syncPath, syncsPath } from '../roster-sync/sync-lab.ts'
import { manyPeople } from '../support/scim-source.ts'

let lab: SyncLab
let waiting: string
beforeAll(async () => {
  lab = await startSyncLab()
  lab.source.users = manyPeople(60)
  await lab.connect('acme')
  await lab.sync('acme')
  lab.source.users = manyPeople(40)
  waiting = await lab.start('acme')
  await lab.reaches('acme', waiting, 'awaiting_confirmation')
})
afterAll(() => lab.close())

const confirm = (syncId: string, options = {}) =>
  lab.hub.call('acme', 'POST', `${syncsPath}/${syncId}:confirm`, options)

test('refused: a body, no token, too small a scope, another tenant, no such sync', async () => {
  const refused = async (options: object) => (await confirm(waiting, options)).body.type.split('/').at(-1)
  expect(await refused({ body: { all: true } })).toBe('validation-failed')
  expect(await refused({ token: null })).toBe('authentication-failed')
  expect(await refused({ scopes: ['roster:read'] })).toBe('insufficient-scope')
  expect(await refused({ headers: { 'x-service-tenant': 'globex' } })).toBe('invalid-tenant')
  expect((await lab.hub.call('globex', 'POST', `${syncsPath}/${waiting}:confirm`)).status).toBe(404)
  expect((await confirm('sync_nobody')).status).toBe(404)
})

test('while it waits, nobody is deactivated, and another call answers the same sync', async () => {
  expect(await lab.users('acme', '&active=true')).toHaveLength(60)
  const again = await lab.hub.call('acme', 'POST', syncPath)
  expect([again.status, again.body]).toEqual([202, { sync_id: waiting, status: 'awaiting_confirmation' }])
})

test('the sync goes on, and deactivates whom the directory no longer has', async () => {
  const answer = await confirm(waiting)
  expect([answer.status, answer.body]).toMatchObject([
    200,
    {
      ...{ sync_id: waiting, to_deactivate: 20, confirmed_by: await lab.hub.clientId('acme') },
      confirmation_reason: '20 of 60 active people are no longer in the directory: more than 20 %.',
    },
  ])
  const done = await lab.reaches('acme', waiting, 'completed')
  expect(done).toMatchObject({ deactivated: 20, added: 0, to_deactivate: 20 })
  expect(await lab.users('acme', '&active=true')).toHaveLength(40)
  const [event, ...others] = await lab.events('acme', 'roster.scim_sync_confirmed')
  expect(others).toEqual([])
  expect(event).toMatchObject({ subject: `sync:${waiting}`, details: { to_deactivate: 20, actor: expect.any(String) } })
})

test('again it is the same answer; one that asks nothing cannot be confirmed', async () => {
  expect((await confirm(waiting)).body).toMatchObject({ sync_id: waiting, status: 'completed', deactivated: 20 })
  expect(await lab.events('acme', 'roster.scim_sync_confirmed')).toHaveLength(1)
  const { sync_id: other } = await lab.sync('acme')
  const answer = await confirm(other)
  expect([answer.status, answer.body.detail]).toEqual([409, 'The sync cannot be confirmed: it is completed.'])
})
