import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '../../contract/roles.ts'
import type { TenantTx } from '../../server/db/database.ts'
import type { ProvenIdentity, User } from '../../server/modules/roster/roster-types.ts'
import type { TestTenant } from '../support/hub.ts'
import { type RosterLab, startRosterLab } from './roster-lab.ts'

let lab: RosterLab
beforeAll(async () => {
  lab = await startRosterLab()
})
afterAll(() => lab.close())

const users = () => lab.hub.modules.roster.signInUsers
const inTenant = <T>(work: (tx: TenantTx) => Promise<T>, slug: TestTenant = 'acme') =>
  lab.hub.test.database.withTenant(slug, work)
async function ensure(email: string, role?: Role, slug: TestTenant = 'acme'): Promise<User> {
  const tenant = await lab.hub.tenant(slug)
  return inTenant((tx) => users().ensure(tx, tenant, email, role), slug)
}
async function ofIdentity(identity: Partial<ProvenIdentity> & { subject: string; email: string }): Promise<User> {
  const tenant = await lab.hub.tenant('acme')
  return inTenant((tx) => users().ofIdentity(tx, tenant, { connectionId: 'c1', ...identity }))
}
const refusal = (reason: string) => ({ slug: 'authentication-failed', extensions: { reason } })

describe('by address', () => {
  test('a stranger becomes a member, once, however the address is written', async () => {
    const kim = await ensure('Kim@Example.com')
    expect(kim).toEqual({
      userId: expect.stringMatching(/^usr_[A-Za-z0-9]{24}$/),
      email: 'Kim@Example.com',
      hasSignedIn: false,
      displayName: null,
      role: 'member',
      active: true,
      epoch: 1,
    })
    expect(await ensure('kIM@example.COM')).toEqual(kim)
    expect(await ensure('jose\u0301@example.com')).toEqual(await ensure('jos\u00e9@example.com'))
    expect(await inTenant((tx) => users().ofEmail(tx, 'KIM@EXAMPLE.COM'))).toEqual(kim)
    expect(await inTenant((tx) => users().byId(tx, kim.userId))).toEqual(kim)
    expect(await lab.eventsAbout('acme', kim.userId)).toEqual([
      {
        change: 'user_created',
        before: null,
        after: { role: 'member', active: true },
        reason: 'first_sign_in',
        actor: 'service:sign-in',
      },
    ])
  })

  test('twenty at once are one', async () => {
    const twenty = await Promise.all(Array.from({ length: 20 }, (_, i) => ensure(i % 2 ? 'lee@x.org' : 'LEE@x.org')))
    expect(new Set(twenty.map((user) => user.userId)).size).toBe(1)
    expect(await lab.eventsAbout('acme', twenty[0]!.userId)).toHaveLength(1)
  })

  test('a role that is given is had, by a new user and by one who exists', async () => {
    const fresh = await ensure('fresh@example.com', 'auditor')
    expect([fresh.role, fresh.epoch]).toEqual(['auditor', 1])
    const before = await ensure('known@example.com')
    const after = await ensure('known@example.com', 'analyst')
    expect(after).toEqual({ ...before, role: 'analyst', epoch: before.epoch + 1 })
    expect((await lab.eventsAbout('acme', after.userId)).at(-1)).toEqual({
      change: 'user_role',
      before: { role: 'member', active: true },
      after: { role: 'analyst', active: true },
      reason: 'welcome_link',
      actor: 'service:sign-in',
    })
    expect(await ensure('known@example.com', 'analyst')).toEqual(after)
  })

  test('nobody is found in another tenant', async () => {
    const kim = await ensure('only-acme@example.com')
    expect(await inTenant((tx) => users().ofEmail(tx, 'only-acme@example.com'), 'globex')).toBeUndefined()
    expect(await inTenant((tx) => users().byId(tx, kim.userId), 'globex')).toBeUndefined()
    expect((await ensure('only-acme@example.com', undefined, 'globex')).userId).not.toBe(kim.userId)
  })

  test('a deactivated person does not come back by signing in, with the welcome link neither', async () => {
    const { userId } = await ensure('gone@example.com')
    await lab.act('acme', userId, 'deactivate')
    await expect(ensure('gone@example.com')).rejects.toMatchObject(refusal('deactivated'))
    await expect(ensure('GONE@example.com', 'admin')).rejects.toMatchObject(refusal('deactivated'))
    await expect(ofIdentity({ subject: 'gone', email: 'gone@example.com' })).rejects.toMatchObject(
      refusal('deactivated'),
    )
    expect(await inTenant((tx) => users().ofEmail(tx, 'gone@example.com'))).toBeUndefined()
    expect(await inTenant((tx) => users().byId(tx, userId))).toMatchObject({ active: false })
    await expect(inTenant((tx) => users().noteSignIn(tx, userId))).rejects.toMatchObject(refusal('deactivated'))
  })
})

describe('the first administrator', () => {
  test('is whom the tenant was created for, by whatever way they sign in, and only while there is no other', async () => {
    const first = await ensure('ADMIN@cmode.example', undefined, 'cmode')
    expect(first.role).toBe('admin')
    expect((await lab.eventsAbout('cmode', first.userId)).map(({ change, reason }) => [change, reason])).toEqual([
      ['user_created', 'first_sign_in'],
      ['user_role', 'first_administrator'],
    ])
    expect((await ensure('other@cmode.example', undefined, 'cmode')).role).toBe('member')

    await ensure('boss@globex.example', 'admin', 'globex')
    expect((await ensure('admin@globex.example', undefined, 'globex')).role).toBe('member')
  })

  test('is made by an identity too, when they were a member', async () => {
    const identity = { subject: 'first', email: 'admin@acme.example' }
    const admin = await ofIdentity(identity)
    expect(admin.role).toBe('admin')
    expect(await ofIdentity(identity)).toEqual(admin)
  })
})

describe('by identity', () => {
  test('a stranger becomes a member and is known from then on, with another name in the address too', async () => {
    const ann = await ofIdentity({ subject: 'ann', email: 'ann@example.com', displayName: ' Ann\u0000\nA. ' })
    expect(ann).toMatchObject({ role: 'member', displayName: 'Ann A.', email: 'ann@example.com' })
    expect(await ofIdentity({ subject: 'ann', email: 'ANN@example.com', displayName: 'Else' })).toEqual(ann)

    const married = await ofIdentity({ subject: 'ann', email: 'ann.b@example.com' })
    expect(married).toEqual({ ...ann, email: 'ann.b@example.com' })
    expect(await inTenant((tx) => users().ofEmail(tx, 'ann@example.com'))).toBeUndefined()
    const events = await lab.eventsAbout('acme', ann.userId)
    expect(events.at(-1)).toEqual({ change: 'user_email', reason: 'identity_provider', actor: 'service:sign-in' })
    expect(JSON.stringify(events)).not.toContain('example.com')
  })

  test('an address that belongs to somebody is not taken over', async () => {
    const owner = await ensure('taken@example.com')
    const bob = await ofIdentity({ subject: 'bob', email: 'bob@example.com' })
    expect(await ofIdentity({ subject: 'bob', email: 'taken@example.com' })).toEqual(bob)
    expect(await inTenant((tx) => users().ofEmail(tx, 'taken@example.com'))).toEqual(owner)
  })

  test('links whom the roster knows by the address, and refuses a second subject of the connection', async () => {
    const eve = await ensure('eve@example.com', 'analyst')
    const linked = await ofIdentity({ subject: 'eve', email: 'Eve@example.com', displayName: 'Eve' })
    expect(linked).toEqual({ ...eve, displayName: 'Eve' })
    await expect(ofIdentity({ subject: 'eve-2', email: 'eve@example.com' })).rejects.toMatchObject(
      refusal('other_identity'),
    )
    expect(await ofIdentity({ subject: 'eve-2', email: 'eve@example.com', connectionId: 'c2' })).toEqual(linked)
    expect(await ofIdentity({ subject: 'eve', email: 'eve@example.com' })).toEqual(linked)
    const links = (await lab.eventsAbout('acme', eve.userId)).filter(({ change }) => change === 'user_identity_linked')
    const told = { change: 'user_identity_linked', role: 'analyst', actor: 'service:sign-in' }
    expect(links).toEqual([
      { ...told, connection_id: 'c1' },
      { ...told, connection_id: 'c2' },
    ])
  })

  test('linking an administrator whom another connection vouches for is told; a new person is no link', async () => {
    const boss = await ensure('boss@example.com', 'admin')
    await ofIdentity({ subject: 'whoever', email: 'boss@example.com', connectionId: 'c3' })
    expect((await lab.eventsAbout('acme', boss.userId)).at(-1)).toEqual({
      change: 'user_identity_linked',
      connection_id: 'c3',
      role: 'admin',
      actor: 'service:sign-in',
    })
    const fresh = await ofIdentity({ subject: 'fresh', email: 'newcomer@example.com' })
    expect((await lab.eventsAbout('acme', fresh.userId)).map(({ change }) => change)).toEqual(['user_created'])
  })

  test('a deactivated identity stays out; a new subject with its address is somebody else', async () => {
    const old = await ofIdentity({ subject: 'old', email: 'desk@example.com' })
    await lab.act('acme', old.userId, 'deactivate')
    await expect(ofIdentity({ subject: 'old', email: 'desk@example.com' })).rejects.toMatchObject(
      refusal('deactivated'),
    )
    const next = await ofIdentity({ subject: 'next', email: 'desk@example.com' })
    expect(next.userId).not.toBe(old.userId)
    await expect(ofIdentity({ subject: 'old', email: 'desk@example.com' })).rejects.toMatchObject(
      refusal('deactivated'),
    )
    // Of another connection nobody can tell: it could be the one who left.
    await lab.act('acme', next.userId, 'deactivate')
    const elsewhere = { subject: 'x', email: 'desk@example.com', connectionId: 'c2' }
    await expect(ofIdentity(elsewhere)).rejects.toMatchObject(refusal('deactivated'))
  })

  test('twenty first sign-ins at once are one person', async () => {
    const identity = { subject: 'many', email: 'many@example.com' }
    const twenty = await Promise.all(Array.from({ length: 20 }, () => ofIdentity(identity)))
    expect(new Set(twenty.map((user) => user.userId)).size).toBe(1)
    expect(await lab.eventsAbout('acme', twenty[0]!.userId)).toHaveLength(1)
  })

  test('twenty subjects with one address at once: one has it, the others are refused', async () => {
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => ofIdentity({ subject: `s${i}`, email: 'shared@example.com' })),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject(refusal('other_identity'))
    }
  })
})
