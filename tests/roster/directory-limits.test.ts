import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectScim, type ScimClient } from '../scim/scim-client.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { eventsAbout } from './roster-lab.ts'

/** What the directory of a company may not do to people: what an administrator decided, and the way in of the powerful. */

let hub: TestHub
let scim: ScimClient
beforeAll(async () => {
  hub = await startHub()
  scim = await connectScim(hub, 'acme')
  // Never the last one.
  await addByHand('standby@acme.example', 'admin')
})
afterAll(() => hub.stop())

let count = 0
let name: string
beforeEach(() => {
  count += 1
  name = `lee-${count}@acme.example`
})

const usersPath = '/api/v1/roster/users'
const addByHand = async (email: string, role = 'member') =>
  (await hub.call('acme', 'POST', usersPath, { body: { email, role } })).body
const act = async (userId: string, action: 'deactivate' | 'reactivate') =>
  expect((await hub.call('acme', 'POST', `${usersPath}/${userId}:${action}`)).status).toBe(200)
const answer = async (userId: string) => (await hub.call('acme', 'GET', `${usersPath}/${userId}`)).body
const putRole = (userId: string, role: string) =>
  hub.call('acme', 'PUT', `${usersPath}/${userId}/role`, { body: { role } })
const readdress = async (userId: string, value: string) => {
  const { status } = await scim.patch(`/Users/${userId}`, [
    { op: 'add', path: 'emails', value: [{ value, primary: true }] },
  ])
  expect(status).toBe(200)
}
const setActive = async (userId: string, value: boolean) =>
  (await scim.patch(`/Users/${userId}`, [{ op: 'replace', path: 'active', value }])).body
const changesOf = (userId: string) => eventsAbout(hub, 'acme', userId)

describe('the address of somebody with a role above member', () => {
  test.each(['admin', 'auditor', 'analyst'])('stays as it was: %s', async (role) => {
    const byHand = await addByHand(name, role)
    const made = await scim.post('/Users', { userName: name, active: true })
    expect(made.body.id).toBe(byHand.user_id)
    expect(await answer(byHand.user_id)).not.toHaveProperty('directory_email')
    await readdress(byHand.user_id, `thief-${count}@evil.example`)
    const body = await answer(byHand.user_id)
    expect(body).toMatchObject({ email: name, role, directory_email: `thief-${count}@evil.example` })
    const { body: list } = await hub.call('acme', 'GET', `${usersPath}?email=${encodeURIComponent(name)}`)
    expect(list.items).toEqual([body])
    expect(await changesOf(byHand.user_id)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ change: 'directory_user_linked', role }),
        expect.objectContaining({ change: 'user_email_kept', role, reason: 'directory' }),
      ]),
    )
    const login = await hub.call('acme', 'POST', '/api/v1/auth/mock-login', {
      token: null,
      body: { email: `thief-${count}@evil.example`, tenant: 'acme' },
    })
    expect(login.body.user_id).not.toBe(byHand.user_id)
  })

  test('stays by PUT and by a pull too, and while they are deactivated', async () => {
    const byHand = await addByHand(name, 'admin')
    await scim.post('/Users', { userName: name, externalId: name, active: true })
    await scim.put(`/Users/${byHand.user_id}`, { userName: `a-${count}@evil.example`, active: true })
    expect((await answer(byHand.user_id)).email).toBe(name)
    await setActive(byHand.user_id, false)
    await readdress(byHand.user_id, `b-${count}@evil.example`)
    await setActive(byHand.user_id, true)
    expect(await answer(byHand.user_id)).toMatchObject({ email: name, active: true })
    const tenant = await hub.tenant('acme')
    const attributes = { emails: [{ value: `c-${count}@evil.example` }] }
    const page = [{ userName: `c-${count}`, externalId: name, active: true, attributes }]
    await hub.test.database.withTenant('acme', (tx) =>
      hub.modules.roster.directory.putUsers(tx, tenant, page, 'sync', { service: 'test' }),
    )
    expect(await answer(byHand.user_id)).toMatchObject({ email: name, user_name: `c-${count}` })
  })

  test('is the one they had when the role was raised; of a member it follows the directory', async () => {
    const { id } = await scim.user(`raised-${count}`)
    await readdress(id, `first-${count}@acme.example`)
    expect((await answer(id)).email).toBe(`first-${count}@acme.example`)
    await putRole(id, 'analyst')
    await readdress(id, `second-${count}@acme.example`)
    expect((await answer(id)).email).toBe(`first-${count}@acme.example`)
    await putRole(id, 'member')
    await readdress(id, `third-${count}@acme.example`)
    expect((await answer(id)).email).toBe(`third-${count}@acme.example`)
  })

  test('is not given to anybody else', async () => {
    const byHand = await addByHand(name, 'admin')
    await scim.post('/Users', { userName: name, active: true })
    await readdress(byHand.user_id, `gone-${count}@acme.example`)
    const second = await scim.post('/Users', {
      userName: `heir-${count}`,
      emails: [{ value: name, primary: true }],
      active: true,
    })
    expect(await answer(second.body.id)).toMatchObject({ email: '', directory_email: name, role: 'member' })
    expect((await answer(byHand.user_id)).email).toBe(name)
  })
})

describe('a deactivation by hand', () => {
  test('is not taken back by the directory, however it says so', async () => {
    const byHand = await addByHand(name, 'admin')
    await scim.post('/Users', { userName: name, active: true })
    await act(byHand.user_id, 'deactivate')
    expect((await setActive(byHand.user_id, false)).active).toBe(false)
    expect((await setActive(byHand.user_id, true)).active).toBe(false)
    const replaced = await scim.put(`/Users/${byHand.user_id}`, { userName: name, active: true })
    expect([replaced.status, replaced.body.active]).toEqual([200, false])
    expect(await answer(byHand.user_id)).toMatchObject({ active: false, role: 'admin' })
    await act(byHand.user_id, 'reactivate')
    expect((await scim.get(`/Users/${byHand.user_id}`)).body.active).toBe(true)
    // From here on the directory decides again.
    expect((await setActive(byHand.user_id, false)).active).toBe(false)
    expect((await setActive(byHand.user_id, true)).active).toBe(true)
  })

  test('holds for whom the directory had deactivated before, too', async () => {
    const { id } = await scim.user(`before-${count}`)
    await setActive(id, false)
    await act(id, 'deactivate')
    await act(id, 'deactivate')
    expect((await setActive(id, true)).active).toBe(false)
    const kept = (await changesOf(id)).filter(({ change }) => change === 'user_kept_deactivated')
    expect(kept).toHaveLength(1)
  })

  test('shows in the resource, its version and filters; other changes leave what the directory said', async () => {
    const { id, meta } = await scim.user(`shown-${count}`)
    await act(id, 'deactivate')
    const shown = (await scim.get(`/Users/${id}`)).body
    expect(shown.active).toBe(false)
    expect(shown.meta.version).not.toBe(meta.version)
    const found = async (filter: string) =>
      (await scim.find('Users', `userName eq "shown-${count}" and ${filter}`)).body.totalResults
    expect([await found('active eq true'), await found('active eq false')]).toEqual([0, 1])
    await scim.patch(`/Users/${id}`, [{ op: 'add', path: 'title', value: 'Agent' }])
    await act(id, 'reactivate')
    expect((await scim.get(`/Users/${id}`)).body).toMatchObject({ active: true, title: 'Agent' })
  })

  test.each(['never had', 'removed'])('holds for the address of somebody whom the directory %s', async (how) => {
    const byHand = await addByHand(name, 'admin')
    if (how === 'removed') await scim.post('/Users', { userName: name, active: true })
    await act(byHand.user_id, 'deactivate')
    if (how === 'removed') expect((await scim.call('DELETE', `/Users/${byHand.user_id}`)).status).toBe(204)
    const made = await scim.post('/Users', { userName: name, active: true })
    expect([made.status, made.body.active]).toEqual([201, false])
    expect(made.body.id).not.toBe(byHand.user_id)
    expect((await setActive(made.body.id, true)).active).toBe(false)
    await act(made.body.id, 'reactivate')
    expect(await answer(made.body.id)).toMatchObject({ active: true, role: 'member', email: name })
  })
})
