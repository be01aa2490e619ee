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

async function deactivated(email: string) {
  const user = await lab.add('acme', email, 'analyst')
  await lab.act('acme', user.user_id, 'deactivate')
  return user
}

test('a user is reactivated as they were, recorded once; no token from before comes back to life', async () => {
  const user = await deactivated('kim@acme.example')
  const id = user.user_id
  const { status, body } = await lab.act('acme', id, 'reactivate')
  expect([status, body]).toEqual([200, user])
  expect((await lab.act('acme', id, 'reactivate')).body).toEqual(user)
  const { signInUsers } = lab.hub.modules.roster
  const known = await lab.hub.test.database.withTenant('acme', (tx) => signInUsers.ofEmail(tx, 'kim@acme.example'))
  expect(known!.epoch).toBeGreaterThanOrEqual((await lab.minEpoch('acme', id))!)
  expect((await lab.eventsAbout('acme', id)).slice(2)).toEqual([
    {
      change: 'user_reactivated',
      before: { role: 'analyst', active: false },
      after: { role: 'analyst', active: true },
      actor: expect.stringMatching(/^sa/),
      address: '127.0.0.1',
      request_id: expect.any(String),
    },
  ])
})

test('an address that belongs to another active user meanwhile is 409', async () => {
  const old = await deactivated('desk@acme.example')
  const { user_id: owner } = await lab.add('acme', 'Desk@acme.example')
  const { status, body } = await lab.act('acme', old.user_id, 'reactivate')
  expect([status, body.type]).toEqual([409, `${lab.url}/errors/concurrent-modification`])
  expect((await lab.get('acme', old.user_id)).active).toBe(false)
  await lab.act('acme', owner, 'deactivate')
  expect((await lab.act('acme', old.user_id, 'reactivate')).status).toBe(200)
})

test('of several former owners of an address only one comes back at once', async () => {
  const owners = []
  for (let i = 0; i < 5; i += 1) owners.push(await deactivated('shared@acme.example'))
  const added = lab.call('acme', 'POST', usersPath, { body: { email: 'shared@acme.example' } })
  const answers = await Promise.all([added, ...owners.map(({ user_id }) => lab.act('acme', user_id, 'reactivate'))])
  expect(answers.map(({ status }) => (status < 300 ? 200 : status)).sort()).toEqual([200, 409, 409, 409, 409, 409])
})

test('an empty object is a body too, anything in it is refused', async () => {
  const { user_id: id } = await deactivated('lee@acme.example')
  const path = `${usersPath}/${id}:reactivate`
  const { status, body } = await lab.call('acme', 'POST', path, { body: { role: 'admin' } })
  expect([status, body.errors[0].pointer]).toEqual([400, '/role'])
  expect((await lab.get('acme', id)).active).toBe(false)
  expect((await lab.call('acme', 'POST', path, { body: {} })).status).toBe(200)
})

test('nobody, a user of another tenant and what is no id are the same 404', async () => {
  expect(await askForStrangers(lab, 'POST', ':reactivate')).toEqual(strangersAreUnknown)
})

test('without token, scope or tenant nothing changes', async () => {
  const { user_id: id } = await deactivated('ann@acme.example')
  const path = `${usersPath}/${id}:reactivate`
  expect(await commonRejections(lab, 'POST', path, { scopes: ['roster:read', 'hub:write'] })).toEqual(allRefused)
  expect((await lab.get('acme', id)).active).toBe(false)
})
