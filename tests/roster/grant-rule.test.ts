import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Role, roleNames, roles } from '../../contract/roles.ts'
import { type Scope, scopeNames } from '../../contract/scopes.ts'
import type { UserResponse } from '../../server/modules/roster/roster-types.ts'
import { type RosterLab, startRosterLab, usersPath } from './roster-lab.ts'

/** Nobody grants or revokes a permission that they do not have. */

let lab: RosterLab
let people = 0
beforeAll(async () => {
  lab = await startRosterLab()
  await lab.add('acme', 'keeps-the-tenant@acme.example', 'admin')
})
afterAll(() => lab.close())

const person = (role: Role): Promise<UserResponse> => {
  people += 1
  return lab.add('acme', `person-${people}@acme.example`, role)
}
const enough = (...of: Role[]): Scope[] => [...new Set<Scope>(['roster:write', ...of.flatMap((role) => roles[role])])]

/** Tries with each needed scope left out, then with just what is needed. */
async function needs(scopes: Scope[], act: (scopes: Scope[]) => ReturnType<RosterLab['call']>, done: number) {
  for (const lacking of scopes.filter((scope) => scope !== 'roster:write')) {
    const { status, body } = await act(scopes.filter((scope) => scope !== lacking))
    expect([status, body.type]).toEqual([403, `${lab.url}/errors/insufficient-scope`])
    expect([...body.required_scopes].sort()).toEqual([...scopes].sort())
    expect(body.detail).toContain(`lacks ${lacking}`)
    expect(body.detail).toContain('cannot grant or revoke permissions that you do not have')
  }
  expect((await act(scopes)).status).toBe(done)
}

describe.each(roleNames)('%s', (role) => {
  test('is added by who holds all of it', async () => {
    people += 1
    const body = { email: `new-${people}@acme.example`, role }
    await needs(enough(role), (scopes) => lab.call('acme', 'POST', usersPath, { scopes, body }), 201)
  })

  test.each(roleNames)('becomes %s by who holds all of both', async (next) => {
    const { user_id: id } = await person(role)
    const body = { role: next }
    await needs(
      enough(role, next),
      (scopes) => lab.call('acme', 'PUT', `${usersPath}/${id}/role`, { scopes, body }),
      200,
    )
    expect((await lab.get('acme', id)).role).toBe(next)
  })

  test('is deactivated and reactivated by who holds all of it', async () => {
    const { user_id: id } = await person(role)
    for (const action of ['deactivate', 'reactivate']) {
      await needs(enough(role), (scopes) => lab.call('acme', 'POST', `${usersPath}/${id}:${action}`, { scopes }), 200)
    }
  })
})

test('a member is added by who holds what a member may, also where no role is named', async () => {
  const body = { email: 'unnamed@acme.example' }
  await needs(enough('member'), (scopes) => lab.call('acme', 'POST', usersPath, { scopes, body }), 201)
})

test('an account that keeps the roster, whatever else it may, makes no administrator', async () => {
  const { user_id: id } = await person('member')
  const scopes = scopeNames.filter((scope) => scope !== 'hub:purge')
  const answer = await lab.call('acme', 'PUT', `${usersPath}/${id}/role`, { scopes, body: { role: 'admin' } })
  expect([answer.status, answer.body.required_scopes]).toEqual([403, scopeNames])
  expect((await lab.get('acme', id)).role).toBe('member')
  expect(await lab.eventsAbout('acme', id)).toHaveLength(1)
})

test('nobody but an administrator changes roles, their own least of all', async () => {
  for (const role of ['auditor', 'analyst', 'member'] as const) {
    const user = await person(role)
    const token = await lab.tokenOf('acme', user)
    expect((await lab.putRole('acme', user.user_id, 'admin', token)).status).toBe(403)
    expect((await lab.get('acme', user.user_id)).role).toBe(role)
  }
})
