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

test('the role of a user is answered', async () => {
  const { user_id } = await lab.add('acme', 'kim@acme.example', 'auditor')
  const path = `${usersPath}/${user_id}/role`
  const { status, body } = await lab.call('acme', 'GET', path, { scopes: ['roster:read'] })
  expect([status, body]).toEqual([200, { user_id, role: 'auditor' }])
  await lab.putRole('acme', user_id, 'member')
  expect((await lab.call('acme', 'GET', path)).body).toEqual({ user_id, role: 'member' })
})

test('nobody, a user of another tenant and what is no id are the same 404', async () => {
  expect(await askForStrangers(lab, 'GET', '/role')).toEqual(strangersAreUnknown)
})

test('an unknown parameter is refused', async () => {
  const { user_id } = await lab.add('acme', 'lee@acme.example')
  const { status, body } = await lab.call('acme', 'GET', `${usersPath}/${user_id}/role?x=1`)
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/x'])
})

test('without token, scope or tenant there is nothing to see', async () => {
  const { user_id } = await lab.add('acme', 'ann@acme.example')
  const path = `${usersPath}/${user_id}/role`
  expect(await commonRejections(lab, 'GET', path, { scopes: ['roster:write'] })).toEqual(allRefused)
})
