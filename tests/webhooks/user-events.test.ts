import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TenantTx } from '../../server/db/database.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { must } from '../api/webhook-cases.ts'
import { type SyncLab, startSyncLab } from '../roster-sync/sync-lab.ts'
import { connectScim, type ScimClient } from '../scim/scim-client.ts'
import { groupEntry, personEntry } from '../support/scim-source.ts'
import { messagesSentBy, subscribe, takeMessages } from './queued-messages.ts'

const users = '/api/v1/roster/users'
let lab: SyncLab
/** Pushes to globex; acme is read. */
let scim: ScimClient
beforeAll(async () => {
  lab = await startSyncLab()
  scim = await connectScim(lab.hub, 'globex')
  for (const tenant of ['acme', 'globex'] as const) await subscribe(lab.hub, tenant, 'user.*')
})
afterAll(() => lab.close())
beforeEach(async () => {
  for (const tenant of ['acme', 'globex', 'cmode']) await takeMessages(lab.hub, tenant)
})

const call = async (method: string, path: string, body?: object, tenant: 'acme' | 'globex' = 'acme') =>
  (await must(lab.hub, tenant, method, path, body ? { body } : {})).body
const sentBy = async (work: () => Promise<unknown>, tenant?: string) =>
  (await messagesSentBy(lab.hub, work, tenant)).map(({ kind, data }) => [kind, data])
let count = 0
const address = (name: string) => `${name}${++count}@acme.example`

describe('by hand', () => {
  test('a user is added, and the message says whom it is about', async () => {
    const email = address('kim')
    const [message, ...others] = await messagesSentBy(lab.hub, () =>
      call('POST', users, { email, display_name: 'Kim' }),
    )
    expect(others).toEqual([])
    const { items } = await call('GET', `${users}?email=${encodeURIComponent(email)}`)
    const { user_id } = items[0]
    expect(message).toEqual({
      messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: 'user.provisioned',
      occurredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      data: {
        ...{ user_id, email, display_name: 'Kim', role: 'member', active: true, archetype_ids: [], source: 'manual' },
      },
      recordId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      userId: user_id,
    })
  })

  test('role, deactivation, reactivation: each once, as it is afterwards, and nothing when repeated', async () => {
    const email = address('lee')
    const { user_id } = await call('POST', users, { email })
    const state = { user_id, email, role: 'auditor', archetype_ids: [], source: 'manual' }
    const role = () => call('PUT', `${users}/${user_id}/role`, { role: 'auditor' })
    expect(await sentBy(role)).toEqual([['user.updated', { ...state, active: true, changed: ['role'] }]])
    expect(await sentBy(role)).toEqual([])
    const deactivate = () => call('POST', `${users}/${user_id}:deactivate`)
    expect(await sentBy(deactivate)).toEqual([['user.deactivated', { ...state, active: false }]])
    expect(await sentBy(deactivate)).toEqual([])
    const reactivate = () => call('POST', `${users}/${user_id}:reactivate`)
    expect(await sentBy(reactivate)).toEqual([['user.updated', { ...state, active: true, changed: ['active'] }]])
  })

  test('archetypes', async () => {
    await call('PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'one' }, { archetype_id: 'two' }] })
    const { user_id } = await call('POST', users, { email: address('ann') })
    const put = (...archetype_ids: string[]) => call('PUT', `${users}/${user_id}/archetypes`, { archetype_ids })
    const change = (before: string[], after: string[]) => [
      'user.archetype_changed',
      expect.objectContaining({ user_id, before, after, archetype_ids: after }),
    ]
    expect(await sentBy(() => put('two', 'one'))).toEqual([change([], ['one', 'two'])])
    expect(await sentBy(() => put('one', 'two'))).toEqual([])
    const bundle = { archetypes: [{ archetype_id: 'two' }] }
    expect(await sentBy(() => call('PUT', '/api/v1/roster/archetypes', bundle))).toEqual([
      change(['one', 'two'], ['two']),
    ])
    expect(await sentBy(() => call('DELETE', `${users}/${user_id}/archetypes`))).toEqual([change(['two'], [])])
  })
})

describe('by SCIM', () => {
  const sentByGlobex = (work: () => Promise<unknown>) => sentBy(work, 'globex')
  const active = (value: boolean) => [{ op: 'replace', path: 'active', value }]

  test('a user from the first day to the last', async () => {
    let id = ''
    const made = await sentByGlobex(async () => {
      id = (await scim.user('sue', { externalId: 'ext-sue' })).id
    })
    const state = {
      ...{ user_id: id, user_name: 'sue', external_id: 'ext-sue', email: 'sue@people.example' },
      ...{ display_name: 'Test Person', role: 'member', active: true, archetype_ids: [], source: 'directory' },
    }
    expect(made).toEqual([['user.provisioned', state]])

    const renamed = () =>
      scim.patch(`/Users/${id}`, [
        { op: 'replace', path: 'userName', value: 'susan' },
        { op: 'replace', path: 'externalId', value: 'ext-susan' },
        { op: 'replace', path: 'displayName', value: 'Susan' },
        { op: 'replace', path: 'title', value: 'Agent' },
        { op: 'replace', path: 'emails[type eq "work"].value', value: 'susan@people.example' },
      ])
    const after = {
      ...state,
      ...{ user_name: 'susan', external_id: 'ext-susan', email: 'susan@people.example', display_name: 'Susan' },
    }
    expect(await sentByGlobex(renamed)).toEqual([
      ['user.updated', { ...after, changed: ['display_name', 'email', 'external_id', 'user_name'] }],
    ])
    expect(await sentByGlobex(renamed)).toEqual([])
    // Nothing that is told of a person.
    expect(
      await sentByGlobex(() => scim.patch(`/Users/${id}`, [{ op: 'replace', path: 'title', value: 'Lead' }])),
    ).toEqual([])

    expect(await sentByGlobex(() => scim.patch(`/Users/${id}`, active(false)))).toEqual([
      ['user.deactivated', { ...after, active: false }],
    ])
    expect(await sentByGlobex(() => scim.patch(`/Users/${id}`, active(true)))).toEqual([
      ['user.updated', { ...after, changed: ['active'] }],
    ])
    const role = () => call('PUT', `${users}/${id}/role`, { role: 'analyst' }, 'globex')
    expect(await sentByGlobex(role)).toEqual([['user.updated', { ...after, role: 'analyst', changed: ['role'] }]])

    // The last message says who it was, and nothing is told of what is forgotten afterwards.
    const bundle = { archetypes: [{ archetype_id: 'seller' }] }
    await call('PUT', '/api/v1/roster/archetypes', bundle, 'globex')
    await call('PUT', `${users}/${id}/archetypes`, { archetype_ids: ['seller'] }, 'globex')
    expect(await sentByGlobex(() => scim.call('DELETE', `/Users/${id}`))).toEqual([
      ['user.deactivated', { ...after, role: 'analyst', active: false, archetype_ids: ['seller'] }],
    ])
  })

  test('of somebody who was deactivated already nothing is told when they are removed', async () => {
    const { id } = await scim.user('left')
    await scim.patch(`/Users/${id}`, active(false))
    expect(await sentByGlobex(() => scim.call('DELETE', `/Users/${id}`))).toEqual([])
  })

  test('somebody whom the tenant knew is taken up', async () => {
    const { user_id } = await call('POST', users, { email: 'knew@people.example' }, 'globex')
    const work = () => scim.user('knew', { emails: [{ value: 'knew@people.example' }] })
    expect(await sentByGlobex(work)).toEqual([
      [
        'user.updated',
        {
          ...{ user_id, user_name: 'knew', email: 'knew@people.example', display_name: 'Test Person', role: 'member' },
          ...{ active: true, archetype_ids: [], source: 'directory', changed: ['display_name', 'source', 'user_name'] },
        },
      ],
    ])
  })

  test('who comes inactive never was active; a new name and the end in one call are two messages', async () => {
    expect(await sentByGlobex(() => scim.user('idle', { active: false }))).toEqual([
      ['user.provisioned', expect.objectContaining({ user_name: 'idle', active: false })],
    ])
    const { id, ...user } = await scim.user('both')
    const put = () => scim.put(`/Users/${id}`, { ...user, displayName: 'Both', active: false })
    expect(await sentByGlobex(put)).toEqual([
      ['user.updated', expect.objectContaining({ display_name: 'Both', active: false, changed: ['display_name'] })],
      ['user.deactivated', expect.objectContaining({ display_name: 'Both', active: false })],
    ])
  })

  test('an address that is somebody else’s by now is given up', async () => {
    const { id } = await scim.user('former', { emails: [{ value: 'shared@people.example' }] })
    await scim.patch(`/Users/${id}`, active(false))
    await scim.user('next', { emails: [{ value: 'shared@people.example' }] })
    const all = await sentByGlobex(() => scim.patch(`/Users/${id}`, active(true)))
    expect(all).toEqual([['user.updated', expect.objectContaining({ user_id: id, changed: ['active', 'email'] })]])
    expect(all[0]![1]).not.toHaveProperty('email')
  })

  test('archetypes by group', async () => {
    await call('PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'seller' }] }, 'globex')
    const map = [{ group: 'Sales', archetype_id: 'seller' }]
    const configured = { mode: 'push', group_archetype_map: map }
    await call('POST', '/api/v1/identity/scim/configure', configured, 'globex')
    const { id } = await scim.user('sam')
    const { id: groupId } = await scim.group('Sales')
    const join = () => scim.patch(`/Groups/${groupId}`, [{ op: 'add', path: 'members', value: [{ value: id }] }])
    const leave = () => scim.patch(`/Groups/${groupId}`, [{ op: 'remove', path: `members[value eq "${id}"]` }])
    const change = (before: string[], after: string[]) => [
      ['user.archetype_changed', expect.objectContaining({ user_id: id, before, after, archetype_ids: after })],
    ]
    expect(await sentByGlobex(join)).toEqual(change([], ['seller']))
    expect(await sentByGlobex(leave)).toEqual(change(['seller'], []))
  })
})

describe('by a directory that is read', () => {
  test('people come, change, get archetypes of their groups, and go', async () => {
    lab.source.users = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9', 'p10'].map((name) => personEntry(name))
    lab.source.groups = [groupEntry('Staff', lab.source.users.slice(0, 2))]
    await lab.connect('acme', [{ group: 'Staff', archetype_id: 'staff' }])
    const first = await sentBy(() => lab.sync('acme'))
    expect(Map.groupBy(first, ([kind]) => kind as string).get('user.provisioned')).toHaveLength(10)
    expect(first).toContainEqual([
      'user.provisioned',
      {
        ...{ user_id: expect.any(String), user_name: 'p1@acme.example', external_id: 'ext-p1', role: 'member' },
        ...{
          email: 'p1@acme.example',
          display_name: 'p1 Example',
          active: true,
          archetype_ids: [],
          source: 'directory',
        },
      },
    ])
    const changes = first.filter(([kind]) => kind === 'user.archetype_changed')
    expect(changes.map(([, data]) => (data as { user_name: string }).user_name).sort()).toEqual([
      'p1@acme.example',
      'p2@acme.example',
    ])
    expect(changes[0]![1]).toMatchObject({ before: [], after: ['staff'], archetype_ids: ['staff'] })
    expect(await sentBy(() => lab.sync('acme'))).toEqual([])

    lab.source.users[4]!.displayName = 'Five'
    lab.source.users.pop()
    expect(await sentBy(() => lab.sync('acme'))).toEqual([
      ['user.updated', expect.objectContaining({ user_name: 'p5@acme.example', changed: ['display_name'] })],
      ['user.deactivated', expect.objectContaining({ user_name: 'p10@acme.example', active: false })],
    ])
  })
})

describe('by sign-in', () => {
  const run = async (work: (tx: TenantTx, tenant: Tenant) => Promise<unknown>) => {
    const tenant = await lab.hub.tenant('acme')
    return lab.hub.test.database.withTenant('acme', (tx) => work(tx, tenant))
  }
  const ofIdentity = (identity: { email: string; displayName?: string }) =>
    run((tx, tenant) =>
      lab.hub.modules.roster.signInUsers.ofIdentity(tx, tenant, { connectionId: 'c1', subject: 's1', ...identity }),
    )

  test('a stranger is a member, and their new address and name follow', async () => {
    const state = { user_id: expect.any(String), role: 'member', active: true, archetype_ids: [], source: 'manual' }
    expect(await sentBy(() => ofIdentity({ email: 'one@idp.example' }))).toEqual([
      ['user.provisioned', { ...state, email: 'one@idp.example' }],
    ])
    expect(await sentBy(() => ofIdentity({ email: 'one@idp.example' }))).toEqual([])
    expect(await sentBy(() => ofIdentity({ email: 'two@idp.example', displayName: 'Two' }))).toEqual([
      ['user.updated', expect.objectContaining({ display_name: 'Two', changed: ['display_name'] })],
      ['user.updated', { ...state, email: 'two@idp.example', display_name: 'Two', changed: ['email'] }],
    ])
  })

  test('the first administrator', async () => {
    const { signInUsers } = lab.hub.modules.roster
    const first = () => run((tx, tenant) => signInUsers.ensure(tx, tenant, 'boss@acme.example', 'admin'))
    expect(await sentBy(first)).toEqual([
      ['user.provisioned', expect.objectContaining({ email: 'boss@acme.example', role: 'admin' })],
    ])
  })

  test('what is rolled back is not told', async () => {
    const { signInUsers } = lab.hub.modules.roster
    const fails = () =>
      run(async (tx, tenant) => {
        await signInUsers.ensure(tx, tenant, 'nobody@acme.example')
        throw new Error('rolled back')
      }).catch((error: Error) => expect(error.message).toBe('rolled back'))
    expect(await sentBy(fails)).toEqual([])
  })
})

test('an endpoint hears of its own tenant, and of what it names', async () => {
  expect(await sentBy(() => call('POST', users, { email: address('own') }), 'globex')).toEqual([])
  await subscribe(lab.hub, 'cmode', 'user.deactivated')
  const { user_id } = (await must(lab.hub, 'cmode', 'POST', users, { body: { email: 'c@cmode.example' } })).body
  expect(await takeMessages(lab.hub, 'cmode')).toEqual([])
  await must(lab.hub, 'cmode', 'POST', `${users}/${user_id}:deactivate`)
  expect((await takeMessages(lab.hub, 'cmode')).map(({ kind }) => kind)).toEqual(['user.deactivated'])
})
