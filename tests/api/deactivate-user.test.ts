import { afterAll, beforeAll, expect, test } from 'vitest'
import { allRefused, commonRejections } from '../auth/auth-hub.ts'
import {
  askForStrangers,
  type RosterLab,
  startRosterLab,
  strangersAreUnknown,
  usersPath,
} from '../roster/roster-lab.ts'

let lab: RosterLab
beforeAll(async () => {
  lab = await startRosterLab()
})
afterAll(() => lab.close())

test('a user is deactivated: recorded once, tokens revoked, and cannot sign in any more', async () => {
  const user = await lab.add('acme', 'kim@acme.example', 'analyst')
  const id = user.user_id
  const { status, body } = await lab.act('acme', id, 'deactivate')
  expect(status).toBe(200)
  expect(body).toEqual({ ...user, active: false, deactivated_at: expect.any(String) })
  expect(await lab.minEpoch('acme', id)).toBe(2)
  expect((await lab.act('acme', id, 'deactivate')).body).toEqual(body)
  expect(await lab.minEpoch('acme', id)).toBe(2)
  expect((await lab.eventsAbout('acme', id)).slice(1)).toEqual([
    {
      change: 'user_deactivated',
      before: { role: 'analyst', active: true },
      after: { role: 'analyst', active: false },
      actor: expect.stringMatching(/^sa/),
      address: '127.0.0.1',
      request_id: expect.any(String),
    },
  ])
  const { signInUsers } = lab.hub.modules.roster
  const byEmail = await lab.hub.test.database.withTenant('acme', (tx) => signInUsers.ofEmail(tx, 'kim@acme.example'))
  expect(byEmail).toBeUndefined()
})

test('an empty object is a body too, anything in it is refused', async () => {
  const { user_id: id } = await lab.add('acme', 'lee@acme.example')
  const path = `${usersPath}/${id}:deactivate`
  const { status, body } = await lab.call('acme', 'POST', path, { body: { reason: 'x' } })
  expect([status, body.errors[0].pointer]).toEqual([400, '/reason'])
  expect((await lab.get('acme', id)).active).toBe(true)
  expect((await lab.call('acme', 'POST', path, { body: {} })).status).toBe(200)
})

test('nobody, a user of another tenant and what is no id are the same 404', async () => {
  expect(await askForStrangers(lab, 'POST', ':deactivate')).toEqual(strangersAreUnknown)
})

test('without token, scope or tenant nothing changes', async () => {
  const { user_id: id } = await lab.add('acme', 'ann@acme.example')
  const path = `${usersPath}/${id}:deactivate`
  expect(await commonRejections(lab, 'POST', path, { scopes: ['roster:read', 'hub:write'] })).toEqual(allRefused)
  expect((await lab.get('acme', id)).active).toBe(true)
})
