import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { configurePath, type SyncLab, startSyncLab, syncPath, syncsPath } from '../roster-sync/sync-lab.ts'
import { groupEntry, manyPeople } from '../support/scim-source.ts'

let lab: SyncLab
beforeAll(async () => {
  lab = await startSyncLab()
})
afterAll(() => lab.close())
afterEach(() => {
  lab.source.faults = {}
})

test('without SCIM there is nothing to sync with, and the answer says what to do', async () => {
  const answer = await lab.hub.call('globex', 'POST', syncPath)
  expect([answer.status, answer.body.type]).toEqual([409, `${lab.hub.baseUrl}/errors/concurrent-modification`])
  expect(answer.body.detail).toContain('POST /api/v1/identity/scim/configure')
})

test('reads people and groups, gives archetypes, and tells of it', async () => {
  const people = manyPeople(450)
  lab.source.users = people
  lab.source.groups = [groupEntry('Analysts', people.slice(0, 300)), groupEntry('Others', people.slice(300, 310))]
  await lab.connect('acme', [{ group: 'Analysts', archetype_id: 'analyst' }])
  const started = await lab.hub.call('acme', 'POST', syncPath)
  expect([started.status, started.body]).toEqual([
    202,
    { sync_id: expect.stringMatching(/^sync_[A-Za-z0-9]{24}$/), status: 'queued' },
  ])
  const { sync_id: syncId } = started.body
  expect(started.headers.location).toBe(`${syncsPath}/${syncId}`)
  const done = await lab.reaches('acme', syncId, 'completed')
  expect(done).toEqual({
    ...{ sync_id: syncId, mode: 'pull', status: 'completed', created_by: await lab.hub.clientId('acme') },
    ...{ added: 450, updated: 0, deactivated: 0, unmatched: 150, skipped: 0, progress: { done: 452, total: 452 } },
    created_at: expect.stringMatching(/\.\d{6}Z$/),
    started_at: expect.stringMatching(/\.\d{6}Z$/),
    finished_at: expect.stringMatching(/\.\d{6}Z$/),
  })
  const users = await lab.users('acme', '&active=true')
  expect(users).toHaveLength(450)
  const unmatched = await lab.users('acme', '&matched=false')
  expect(unmatched).toHaveLength(150)
  const [event, ...others] = await lab.events('acme', 'roster.scim_sync_completed')
  expect(others).toEqual([])
  expect(event).toMatchObject({
    subject: `sync:${syncId}`,
    details: {
      ...{ status: 'completed', mode: 'pull', added: 450, updated: 0, deactivated: 0, unmatched: 150, skipped: 0 },
      started_at: done.started_at,
      finished_at: done.finished_at,
    },
  })
  expect(await lab.events('acme', 'rbac.archetype_assigned')).toHaveLength(300)
  expect(JSON.stringify(event)).not.toContain('@acme.example')
  expect(lab.hub.logLines.join()).not.toMatch(/person-\d+@acme\.example/)
})

test('again, nothing changes', async () => {
  expect(await lab.sync('acme')).toMatchObject({ added: 0, updated: 0, deactivated: 0, unmatched: 150 })
})

test('a second call answers the sync that is under way', async () => {
  lab.source.faults.slowMs = 100
  const answers = await Promise.all(Array.from({ length: 5 }, () => lab.hub.call('acme', 'POST', syncPath)))
  expect(answers.map((answer) => answer.status)).toEqual([202, 202, 202, 202, 202])
  const ids = new Set(answers.map((answer) => answer.body.sync_id))
  expect(ids.size).toBe(1)
  await lab.reaches('acme', [...ids][0], 'completed')
})

test('with push it settles archetypes and completes', async () => {
  await lab.hub.call('cmode', 'POST', configurePath, { body: { mode: 'push' } })
  const requests = lab.source.requests.length
  expect(await lab.sync('cmode')).toMatchObject({ mode: 'push', status: 'completed', added: 0, unmatched: 0 })
  expect(lab.source.requests).toHaveLength(requests)
  expect(await lab.events('cmode', 'roster.scim_sync_completed')).toHaveLength(1)
})

test('refused: a body, no token, too small a scope, another tenant', async () => {
  const refused = async (options: object) =>
    (await lab.hub.call('acme', 'POST', syncPath, options)).body.type.split('/').at(-1)
  expect(await refused({ body: { full: true } })).toBe('validation-failed')
  expect(await refused({ token: null })).toBe('authentication-failed')
  expect(await refused({ scopes: ['roster:read'] })).toBe('insufficient-scope')
  expect(await refused({ headers: { 'x-service-tenant': 'globex' } })).toBe('invalid-tenant')
})
