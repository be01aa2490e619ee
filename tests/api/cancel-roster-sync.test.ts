import { afterAll, beforeAll, expect, test } from 'vitest'
import { configurePath, type SyncLab, startSyncLab, syncsPath } from '../roster-sync/sync-lab.ts'
import { manyPeople } from '../support/scim-source.ts'

let lab: SyncLab
beforeAll(async () => {
  lab = await startSyncLab()
  lab.source.users = manyPeople(500)
  await lab.connect('acme')
})
afterAll(() => lab.close())

const cancel = (syncId: string, options = {}) => lab.hub.call('acme', 'POST', `${syncsPath}/${syncId}:cancel`, options)

test('refused: a body, no token, too small a scope, another tenant, no such sync; then it is cancelled', async () => {
  lab.source.faults.slowMs = 300
  const syncId = await lab.start('acme')
  const refused = async (options: object) => (await cancel(syncId, options)).body.type.split('/').at(-1)
  expect(await refused({ body: { all: true } })).toBe('validation-failed')
  expect(await refused({ token: null })).toBe('authentication-failed')
  expect(await refused({ scopes: ['roster:read'] })).toBe('insufficient-scope')
  expect(await refused({ headers: { 'x-service-tenant': 'globex' } })).toBe('invalid-tenant')
  expect((await lab.hub.call('globex', 'POST', `${syncsPath}/${syncId}:cancel`)).status).toBe(404)
  expect((await cancel('sync_nobody')).status).toBe(404)

  const answer = await cancel(syncId)
  expect([answer.status, answer.body]).toMatchObject([200, { sync_id: syncId, status: 'cancelled' }])
  expect((await cancel(syncId)).body).toEqual(answer.body)
  lab.source.faults = {}
  const [event, ...others] = await lab.events('acme', 'roster.scim_sync_cancelled')
  expect(others).toEqual([])
  expect(event).toMatchObject({ subject: `sync:${syncId}`, details: { status: 'cancelled' } })
})

test('one that has ended stays as it is', async () => {
  const { sync_id: syncId } = await lab.sync('acme')
  const answer = await cancel(syncId)
  expect([answer.status, answer.body.detail]).toEqual([409, 'The sync cannot be cancelled: it is completed.'])
})

test('removing SCIM, or another directory, cancels what is under way', async () => {
  for (const change of ['remove', 'push'] as const) {
    await lab.connect('acme')
    lab.source.faults.slowMs = 300
    const syncId = await lab.start('acme')
    if (change === 'remove') await lab.hub.call('acme', 'DELETE', configurePath)
    else await lab.hub.call('acme', 'POST', configurePath, { body: { mode: 'push' } })
    expect(await lab.reaches('acme', syncId, 'cancelled')).toMatchObject({ status: 'cancelled' })
    lab.source.faults = {}
  }
})
