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

test('a user is answered, absent members left out', async () => {
  const added = await lab.add('acme', 'kim@acme.example', 'analyst')
  const { status, body } = await lab.call('acme', 'GET', `${usersPath}/${added.user_id}`, { scopes: ['roster:read'] })
  expect([status, body]).toEqual([200, added])
  await lab.act('acme', added.user_id, 'deactivate')
  expect(await lab.get('acme', added.user_id)).toEqual({
    ...added,
    active: false,
    deactivated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  })
})

test('nobody, a user of another tenant and what is no id are the same 404', async () => {
  expect(await askForStrangers(lab, 'GET', '')).toEqual(strangersAreUnknown)
})

test('an unknown parameter is refused', async () => {
  const { user_id } = await lab.add('acme', 'lee@acme.example')
  const { status, body } = await lab.call('acme', 'GET', `${usersPath}/${user_id}?fields=email`)
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/fields'])
})

test('without token, scope or tenant there is nothing to see', async () => {
  const { user_id } = await lab.add('acme', 'ann@acme.example')
  expect(await commonRejections(lab, 'GET', `${usersPath}/${user_id}`, { scopes: ['roster:write'] })).toEqual(
    allRefused,
  )
})
