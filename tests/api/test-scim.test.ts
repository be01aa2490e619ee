import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { configurePath, type SyncLab, startSyncLab } from '../roster-sync/sync-lab.ts'
import { groupEntry, manyPeople } from '../support/scim-source.ts'

const path = '/api/v1/identity/scim:test'
let lab: SyncLab
beforeAll(async () => {
  lab = await startSyncLab()
  lab.source.users = manyPeople(4)
  lab.source.groups = [groupEntry('Analysts', lab.source.users)]
  await lab.connect('acme')
})
afterAll(() => lab.close())
afterEach(() => {
  lab.source.faults = {}
  lab.source.token = 'token-of-the-directory-4711'
})

const trial = (tenant: 'acme' | 'globex' = 'acme', options = {}) => lab.hub.call(tenant, 'POST', path, options)

test('a directory that can be read, step by step, and nothing changes', async () => {
  const before = (await lab.hub.call('acme', 'GET', configurePath)).body
  const { status, body } = await trial()
  expect([status, body]).toEqual([
    200,
    {
      ok: true,
      steps: [
        { name: 'address', ok: true, detail: 'The Hub can connect to 127.0.0.1.' },
        { name: 'reachable', ok: true, detail: 'The directory responds.' },
        { name: 'token', ok: true, detail: 'The directory accepts the bearer token.' },
        { name: 'users', ok: true, detail: 'GET /Users: 4 people.' },
        { name: 'groups', ok: true, detail: 'GET /Groups: 1 group.' },
      ],
    },
  ])
  expect((await lab.hub.call('acme', 'GET', configurePath)).body).toEqual(before)
})

test('names the step that fails, in words, and tries none that rests on it', async () => {
  lab.source.token = 'another'
  const { body, text } = await trial()
  expect(body.ok).toBe(false)
  expect(body.steps.map((step: { ok: boolean }) => step.ok)).toEqual([true, true, false, false, false])
  expect(body.steps[2].detail).toMatch(/rejects the bearer token \(401\).*Create a token/)
  expect(body.steps[3].detail).toBe('Not tried, because token failed.')
  expect(text).not.toContain('token-of-the-directory')
})

test.each([['an error, whose text it keeps to itself', { status: 500, body: 'inside' }, 'groups', /responded 500/]])(
  '%s',
  async (_name, fault, step, words) => {
    lab.source.faults.answer = ({ resource }) => (resource === 'Groups' ? fault : undefined)
    const { body, text } = await trial()
    const failed = body.steps.find((each: { ok: boolean }) => !each.ok)
    expect([failed.name, failed.detail]).toEqual([step, expect.stringMatching(words)])
    expect(text).not.toContain('inside')
  },
)

test('groups that the directory does not serve are missed where the map names some', async () => {
  lab.source.faults.answer = ({ resource }) => (resource === 'Groups' ? { status: 404 } : undefined)
  const groupsStep = async () => (await trial()).body.steps.find(({ name }: { name: string }) => name === 'groups')
  expect(await groupsStep()).toMatchObject({ ok: true, detail: expect.stringContaining('serves no groups (404)') })
  lab.source.faults = {}
  await lab.connect('acme', [{ group: 'Analysts', archetype_id: 'analyst' }])
  lab.source.faults.answer = ({ resource }) => (resource === 'Groups' ? { status: 404 } : undefined)
  expect(await groupsStep()).toMatchObject({ ok: false, detail: expect.stringContaining('no archetypes come of them') })
})

test('with push: the token, what to enter, and whether the directory has called', async () => {
  expect((await trial('globex')).status).toBe(404)
  const { bearer_token: token } = (await lab.hub.call('globex', 'POST', configurePath, { body: { mode: 'push' } })).body
  const before = (await trial('globex')).body
  expect(before).toMatchObject({
    ok: false,
    steps: [
      { name: 'token', ok: true },
      { name: 'settings', ok: true, detail: expect.stringContaining(`${lab.hub.baseUrl}/scim/v2/globex`) },
      { name: 'last_request', ok: false, detail: expect.stringContaining('has not called yet') },
    ],
  })
  lab.hub.modules.scimAccess.connections.noteRequest(await lab.hub.tenant('globex'))
  await lab.hub.modules.scimAccess.connections.settled()
  const after = await trial('globex')
  expect([after.body.ok, after.body.steps[2].detail]).toEqual([true, expect.stringContaining('called last at')])
  expect(after.text).not.toContain(token)
})

test('refused: a body, no token, too small a scope, another tenant', async () => {
  expect((await trial('acme', { body: { a: 1 } })).status).toBe(400)
  expect((await trial('acme', { token: null })).status).toBe(401)
  expect((await trial('acme', { scopes: ['connector:admin'] })).status).toBe(403)
  expect((await trial('acme', { headers: { 'x-service-tenant': 'globex' } })).status).toBe(403)
})
