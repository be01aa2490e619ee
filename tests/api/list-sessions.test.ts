import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Browser, outcome, type SignedInPerson, signIn } from '../auth/people.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const path = '/api/v1/auth/sessions'
const email = 'kim@acme.example'

let hub: TestHub
let own: SignedInPerson[]
let other: SignedInPerson
beforeAll(async () => {
  hub = await startHub()
  own = []
  for (const userAgent of ['Phone/1', undefined, `Laptop/${'x'.repeat(600)}`]) {
    own.push(await signIn(hub, 'acme', { email, ...(userAgent && { userAgent }) }))
  }
  other = await signIn(hub, 'acme')
})
afterAll(() => hub.stop())

const at = (index: number) => own[index] as SignedInPerson
const idsOf = (body: { items: { session_id: string }[] }) => body.items.map((item) => item.session_id)

test('lists the own sessions, the newest first, and says which one is asking', async () => {
  const { status, body } = await at(1).browser.call('GET', path)
  expect(status).toBe(200)
  expect(idsOf(body)).toEqual([at(2), at(1), at(0)].map((each) => each.session.sessionId))
  expect(body.next_cursor).toBeNull()
  const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  expect(body.items[1]).toEqual({
    session_id: at(1).session.sessionId,
    method: 'magic_link',
    created_at: timestamp,
    expires_at: timestamp,
    address: '203.0.113.7',
    current: true,
  })
  expect(body.items[2]).toMatchObject({ user_agent: 'Phone/1', current: false })
  expect(body.items[0].user_agent).toHaveLength(512)
})

test('by access token it is the same', async () => {
  const { body } = await at(0).browser.token()
  const answer = await new Browser(hub.baseUrl).call('GET', path, { bearer: body.access_token })
  expect(answer.body.items.map((item: { current: boolean }) => item.current)).toEqual([false, false, true])
})

test('goes page by page', async () => {
  const seen: string[] = []
  let cursor = ''
  for (let pages = 0; pages < 3; pages += 1) {
    const { body } = await at(0).browser.call('GET', `${path}?limit=1${cursor}`)
    seen.push(...idsOf(body))
    cursor = `&cursor=${body.next_cursor}`
    expect(body.next_cursor === null).toBe(pages === 2)
  }
  expect(seen).toEqual([at(2), at(1), at(0)].map((each) => each.session.sessionId))
})

test('leaves out those that have ended', async () => {
  const gone = await signIn(hub, 'acme', { email })
  await gone.browser.call('POST', '/api/v1/auth/logout')
  expect(idsOf((await at(0).browser.call('GET', path)).body)).not.toContain(gone.session.sessionId)
})

test('a service account has none', async () => {
  const { status, body } = await hub.call('acme', 'GET', path)
  expect([status, body]).toEqual([200, { items: [], next_cursor: null }])
})

describe('is refused', () => {
  test('without a credential', async () => {
    for (const asked of [path, `${path}?verbose=1`]) {
      const answer = await new Browser(hub.baseUrl).call('GET', asked)
      expect(outcome(answer)).toEqual([401, 'authentication-failed'])
    }
  })

  test('under another tenant’s name', async () => {
    const answer = await at(0).browser.call('GET', path, { headers: { 'x-service-tenant': 'globex' } })
    expect(outcome(answer)).toEqual([403, 'invalid-tenant'])
  })

  test.each(['limit=0', 'limit=1001', 'limit=x', 'user=kim', 'limit=1&limit=2'])('with %s', async (query) => {
    expect(outcome(await at(0).browser.call('GET', `${path}?${query}`))).toEqual([400, 'validation-failed'])
  })

  test('with a cursor of somebody else, or none at all', async () => {
    const { body } = await at(0).browser.call('GET', `${path}?limit=1`)
    for (const cursor of [body.next_cursor, 'nonsense']) {
      const answer = await other.browser.call('GET', `${path}?cursor=${cursor}`)
      expect(outcome(answer)).toEqual([400, 'invalid-cursor'])
    }
  })
})
