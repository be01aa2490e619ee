import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { connectScim, type ScimClient } from './scim-client.ts'

let hub: TestHub
let acme: ScimClient
let globex: ScimClient
beforeAll(async () => {
  hub = await startHub()
  acme = await connectScim(hub, 'acme')
  globex = await connectScim(hub, 'globex')
})
afterAll(() => hub.stop())

type Listed = { id: string; userName: string; externalId: string; groups: { display: string }[] }

describe('two tenants at once', () => {
  test('the same names and external ids in both, used side by side, never mix', async () => {
    const clients = { acme, globex }
    const names = Array.from({ length: 12 }, (_, at) => `same-${at}`)
    const made = async (tenant: keyof typeof clients) => {
      const client = clients[tenant]
      const group = await client.group('Same group')
      await Promise.all(
        names.map(async (name) => {
          const user = await client.user(name, { externalId: name, title: tenant })
          await client.patch(`/Groups/${group.id}`, [{ op: 'add', path: 'members', value: [{ value: user.id }] }])
          await client.patch(`/Users/${user.id}`, [{ op: 'add', path: 'nickName', value: `${tenant} ${name}` }])
        }),
      )
      return group.id as string
    }
    const [ofAcme, ofGlobex] = await Promise.all([made('acme'), made('globex')])
    const ids: string[][] = []
    for (const [tenant, client] of Object.entries(clients)) {
      const { body } = await client.find('Users', 'userName sw "same-"')
      expect(body.totalResults).toBe(names.length)
      for (const user of body.Resources as (Listed & {
        title: string
        nickName: string
        meta: { location: string }
      })[]) {
        expect([user.title, user.nickName]).toEqual([tenant, `${tenant} ${user.userName}`])
        expect(user.meta.location).toContain(`/scim/v2/${tenant}/`)
        expect(user.groups).toHaveLength(1)
      }
      ids.push(body.Resources.map(({ id }: Listed) => id))
    }
    expect(new Set(ids.flat()).size).toBe(2 * names.length)
    expect(
      (await acme.get(`/Groups/${ofAcme}`)).body.members.map(({ value }: { value: string }) => value).sort(),
    ).toEqual(ids[0]?.toSorted())
    expect(
      (await globex.get(`/Groups/${ofGlobex}`)).body.members.map(({ value }: { value: string }) => value).sort(),
    ).toEqual(ids[1]?.toSorted())
  })

  test('what is the other’s is not there: not by id, not as a member, not by any change', async () => {
    const theirs = await globex.user('theirs')
    const group = await globex.group('Theirs', [theirs.id])
    const mine = await acme.group('Mine')
    const answers = [
      await acme.get(`/Users/${theirs.id}`),
      await acme.put(`/Users/${theirs.id}`, { userName: 'taken over' }),
      await acme.patch(`/Users/${theirs.id}`, [{ op: 'replace', path: 'active', value: false }]),
      await acme.call('DELETE', `/Users/${theirs.id}`),
      await acme.get(`/Groups/${group.id}`),
      await acme.put(`/Groups/${group.id}`, { displayName: 'taken over' }),
      await acme.patch(`/Groups/${group.id}`, [{ op: 'remove', path: 'members' }]),
      await acme.call('DELETE', `/Groups/${group.id}`),
    ]
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404))
    const member = await acme.patch(`/Groups/${mine.id}`, [
      { op: 'add', path: 'members', value: [{ value: theirs.id }] },
    ])
    expect([member.status, member.body.scimType]).toEqual([400, 'invalidValue'])
    for (const filter of [`id eq "${theirs.id}"`, 'userName eq "theirs"', `groups.value eq "${group.id}"`]) {
      expect((await acme.find('Users', filter)).body.totalResults).toBe(0)
    }
    expect((await globex.get(`/Users/${theirs.id}`)).body).toMatchObject({ userName: 'theirs', active: true })
    expect((await globex.get(`/Groups/${group.id}`)).body.members).toHaveLength(1)
  })

  test('a token of one tenant opens nothing of the other', async () => {
    for (const [client, token] of [
      [acme, globex.token],
      [globex, acme.token],
    ] as const) {
      expect((await client.call('GET', '/Users', { token })).status).toBe(401)
      expect((await client.call('POST', '/Users', { token, body: { userName: 'x' } })).status).toBe(401)
    }
  })
})

describe('what it does in the Hub', () => {
  const roster = async (query = '') =>
    (await hub.call('acme', 'GET', `/api/v1/roster/users?limit=1000${query}`)).body.items

  test('a person comes into the roster, with a role that SCIM never changes, and goes', async () => {
    const user = await acme.user('hired', { roles: [{ value: 'admin' }] })
    const find = async () => (await roster()).find(({ user_id }: { user_id: string }) => user_id === user.id)
    expect(await find()).toMatchObject({ user_id: user.id, email: 'hired@people.example', role: 'member' })
    await acme.patch(`/Users/${user.id}`, [{ op: 'replace', path: 'active', value: false }])
    expect((await find())?.deactivated_at ?? 'gone').not.toBeNull()
    const { body } = await acme.get(`/Users/${user.id}`)
    expect(body.active).toBe(false)
  })

  test('the last administrator is not locked out by the directory', async () => {
    await hub.call('acme', 'POST', '/api/v1/roster/users', { body: { email: 'boss@acme.example', role: 'admin' } })
    const boss = await acme.user('boss', { emails: [{ value: 'boss@acme.example', primary: true }] })
    const deactivated = await acme.patch(`/Users/${boss.id}`, [{ op: 'replace', path: 'active', value: false }])
    const removed = await acme.call('DELETE', `/Users/${boss.id}`)
    for (const { status, body } of [deactivated, removed]) {
      expect(status).toBe(409)
      expect(body).toMatchObject({ status: '409', detail: expect.any(String) })
      expect(body).not.toHaveProperty('scimType')
    }
    expect((await acme.get(`/Users/${boss.id}`)).body.active).toBe(true)
  })

  test('a person’s session ends at once when the directory deactivates them', async () => {
    const user = await acme.user('leaver', { emails: [{ value: 'leaver@acme.example', primary: true }] })
    const login = await hub.call('acme', 'POST', '/api/v1/auth/mock-login', {
      token: null,
      body: { email: 'leaver@acme.example', tenant: 'acme' },
    })
    expect(login.status).toBe(200)
    const token = login.body.access_token
    expect((await hub.call('acme', 'GET', '/api/v1/telemetry/summary', { token })).status).not.toBe(401)
    await acme.patch(`/Users/${user.id}`, [{ op: 'Replace', path: 'active', value: 'False' }])
    const after = await hub.call('acme', 'GET', '/api/v1/telemetry/summary', { token })
    expect(after.status).toBe(401)
    const again = await hub.call('acme', 'POST', '/api/v1/auth/mock-login', {
      token: null,
      body: { email: 'leaver@acme.example', tenant: 'acme' },
    })
    expect(again.status).not.toBe(200)
  })
})
