import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Role } from '../../contract/roles.ts'
import { patience } from '../support/machine-speed.ts'
import { type RosterLab, startRosterLab, usersPath } from './roster-lab.ts'

/** What becomes of tokens that people hold, when somebody changes what they may. */

let lab: RosterLab
beforeAll(async () => {
  lab = await startRosterLab()
  await lab.add('acme', 'keeper@acme.example', 'admin')
})
afterAll(() => lab.close())

async function signedIn(role: Role) {
  const user = await lab.add('acme', `${role}-${performance.now()}@acme.example`, role)
  const token = await lab.tokenOf('acme', user)
  const read = async (bearer = token) => (await lab.call('acme', 'GET', usersPath, { token: bearer })).status
  return { id: user.user_id, user, read }
}

test('another role ends the access tokens of the old one, and the next has the new scopes', async () => {
  const { id, user, read } = await signedIn('auditor')
  expect(await read()).toBe(200)
  await lab.putRole('acme', id, 'member')
  await vi.waitFor(async () => expect(await read()).toBe(401), patience)
  const next = await lab.tokenOf('acme', user)
  expect(await read(next)).toBe(403)
  await lab.putRole('acme', id, 'auditor')
  await vi.waitFor(async () => expect(await read(next)).toBe(401), patience)
  expect(await read(await lab.tokenOf('acme', user))).toBe(200)
})

test('the role somebody has already ends nothing', async () => {
  const { id, read } = await signedIn('auditor')
  await lab.putRole('acme', id, 'auditor')
  expect(await read()).toBe(200)
  expect(await lab.minEpoch('acme', id)).toBeUndefined()
})

test('deactivation ends tokens and sessions, for good', async () => {
  const { id, user, read } = await signedIn('auditor')
  expect(await read()).toBe(200)
  await lab.act('acme', id, 'deactivate')
  await vi.waitFor(async () => expect(await read()).toBe(401), patience)
  await expect(lab.tokenOf('acme', user)).rejects.toMatchObject({ extensions: { reason: 'deactivated' } })
  await lab.act('acme', id, 'reactivate')
  expect(await read()).toBe(401)
  const superuser = await lab.hub.superuserClient()
  const { rows } = await superuser.query('select ended_at is null as open from hub.sessions where user_id = $1', [id])
  expect(rows).toEqual([{ open: false }])
  expect(await read(await lab.tokenOf('acme', user))).toBe(200)
})

test('a sign-in beside a deactivation leaves no session open', async () => {
  for (let i = 0; i < 10; i += 1) {
    const { id, user } = await signedIn('member')
    const both = [lab.tokenOf('acme', user).catch(() => undefined), lab.act('acme', id, 'deactivate')]
    await Promise.all(i % 2 ? both : both.reverse())
    const superuser = await lab.hub.superuserClient()
    const { rows } = await superuser.query('select from hub.sessions where user_id = $1 and ended_at is null', [id])
    expect(rows).toEqual([])
  }
})
