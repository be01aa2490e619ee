import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventsOf } from '../auth/auth-lab.ts'
import { connect } from '../auth/client-lab.ts'
import { signIn } from '../auth/people.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { expectProblem } from './record-cases.ts'

/** Administrators list and end the sessions of others (`listUserSessions`, `endUserSession`). */

let hub: TestHub
beforeAll(async () => {
  hub = await startHub({ limitFactor: 100 })
})
afterAll(() => hub.stop())

const pathOf = (userId: string, rest = '') => `/api/v1/roster/users/${userId}/sessions${rest}`
const call = (method: string, path: string, options = {}) => hub.call('acme', method, path, options)

test('an administrator lists the sessions of a person, and ends the authorization of an agent', async () => {
  const kim = await signIn(hub, 'acme', { email: 'kim@acme.example', role: 'analyst' })
  const agent = await connect(kim)
  const { status, body, text } = await call('GET', pathOf(kim.user.userId))
  expect(status, text).toBe(200)
  expect(body.items).toMatchObject([
    { session_id: agent.sessionId, client_name: 'Agent One', current: false },
    { session_id: kim.session.sessionId, current: false },
  ])
  const first = await call('GET', pathOf(kim.user.userId, '?limit=1'))
  const second = await call('GET', pathOf(kim.user.userId, `?limit=1&cursor=${first.body.next_cursor}`))
  expect([...first.body.items, ...second.body.items]).toEqual(body.items)

  expect((await call('DELETE', pathOf(kim.user.userId, `/${agent.sessionId}`))).status).toBe(204)
  expect((await call('GET', '/api/v1/hub/records', { token: agent.token })).status).toBe(401)
  const events = await eventsOf(hub.test.database, 'acme')
  const revoked = events.findLast((each) => each.event_kind === 'auth.client_revoked')
  expect(revoked).toMatchObject({ subject: `user:${kim.user.userId}`, details: { reason: 'requested' } })
  expect(revoked).not.toMatchObject({ details: { actor: kim.user.userId } })
  expect((await call('DELETE', pathOf(kim.user.userId, `/${kim.session.sessionId}`))).status).toBe(204)
  expect((await kim.browser.token()).status).toBe(401)
  expect((await call('GET', pathOf(kim.user.userId))).body).toEqual({ items: [], next_cursor: null })
})

test('refuses sessions of others, ended ones, unknown users, and callers who are no administrators', async () => {
  const [kim, lee] = [await signIn(hub, 'acme'), await signIn(hub, 'acme', { email: 'lee@acme.example' })]
  const foreign = pathOf(kim.user.userId, `/${lee.session.sessionId}`)
  expectProblem(await call('DELETE', foreign), 'not-found')
  expect((await lee.browser.token()).status).toBe(200)
  const own = pathOf(lee.user.userId, `/${lee.session.sessionId}`)
  for (const [method, path] of [
    ['GET', pathOf(kim.user.userId)],
    ['DELETE', own],
  ] as const) {
    expectProblem(await call(method, path, { scopes: ['roster:read', 'roster:write'] }), 'insufficient-scope')
    expectProblem(await call(method, path, { token: null }), 'authentication-failed')
  }
  expect((await call('DELETE', own)).status).toBe(204)
  expectProblem(await call('DELETE', own), 'not-found')
  expectProblem(await call('GET', pathOf(`usr_${'0'.repeat(24)}`)), 'not-found')
  expectProblem(await call('DELETE', pathOf(kim.user.userId, '/x')), 'validation-failed', '/path/session_id')
  expectProblem(await call('GET', pathOf(kim.user.userId, '?cursor=x')), 'invalid-cursor', '/query/cursor')
})
