import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allRefused, commonRejections } from '../auth/auth-hub.ts'
import {
  askForStrangers,
  pointerOf,
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

test('a role is replaced: recorded once, with the epoch raised and the tokens of the old one revoked', async () => {
  const { user_id: id } = await lab.add('acme', 'kim@acme.example', 'analyst')
  const { status, body } = await lab.putRole('acme', id, 'auditor')
  expect([status, body]).toEqual([200, { user_id: id, role: 'auditor' }])
  expect(await lab.minEpoch('acme', id)).toBe(2)
  expect((await lab.putRole('acme', id, 'auditor')).body).toEqual(body)
  expect(await lab.minEpoch('acme', id)).toBe(2)
  expect((await lab.eventsAbout('acme', id)).slice(1)).toEqual([
    {
      change: 'user_role',
      before: { role: 'analyst', active: true },
      after: { role: 'auditor', active: true },
      actor: expect.stringMatching(/^sa/),
      address: '127.0.0.1',
      request_id: expect.any(String),
    },
  ])
})

test('a deactivated user may be given another role for when they come back', async () => {
  const { user_id: id } = await lab.add('acme', 'later@acme.example')
  await lab.act('acme', id, 'deactivate')
  expect((await lab.putRole('acme', id, 'analyst')).status).toBe(200)
  expect((await lab.act('acme', id, 'reactivate')).body).toMatchObject({ role: 'analyst', active: true })
})

test('a person changes roles with a token of their session', async () => {
  const admin = await lab.add('acme', 'admin-person@acme.example', 'admin')
  const { user_id: id } = await lab.add('acme', 'changed@acme.example')
  const token = await lab.tokenOf('acme', admin)
  expect((await lab.putRole('acme', id, 'analyst', token)).status).toBe(200)
  expect((await lab.eventsAbout('acme', id)).at(-1)).toMatchObject({ actor: admin.user_id })
})

describe('refused with a pointer', () => {
  test.each<[string, unknown, string]>([
    ['no role', {}, '/role'],
    ['an unknown role', { role: 'owner' }, '/role'],
    ['a role of the prototype', { role: 'toString' }, '/role'],
    ['another case', { role: 'Admin' }, '/role'],
    ['null', { role: null }, '/role'],
    ['several', { role: ['admin'] }, '/role'],
    ['another member', { role: 'member', scopes: ['hub:purge'] }, '/scopes'],
    ['no object', 'member', ''],
  ])('%s', async (name, body, pointer) => {
    const { user_id: id } = await lab.add('acme', `${name.replaceAll(' ', '-')}@acme.example`)
    const answer = await lab.call('acme', 'PUT', `${usersPath}/${id}/role`, { body })
    expect(answer.status).toBe(400)
    expect(answer.body.errors.map(pointerOf)).toContain(pointer)
    expect((await lab.get('acme', id)).role).toBe('member')
  })
})

test('nobody, a user of another tenant and what is no id are the same 404', async () => {
  expect(await askForStrangers(lab, 'PUT', '/role', { role: 'analyst' })).toEqual(strangersAreUnknown)
})

test('without token, scope or tenant nothing changes', async () => {
  const { user_id: id } = await lab.add('acme', 'ann@acme.example')
  const path = `${usersPath}/${id}/role`
  const body = { role: 'analyst' }
  expect(await commonRejections(lab, 'PUT', path, { body, scopes: ['roster:read', 'hub:read'] })).toEqual(allRefused)
  expect((await lab.get('acme', id)).role).toBe('member')
})
