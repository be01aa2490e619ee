import { afterAll, beforeAll, expect, test } from 'vitest'
import { callbackPath, kim, type OidcLab, startOidcLab } from '../auth/oidc-lab.ts'

let lab: OidcLab
beforeAll(async () => {
  lab = await startOidcLab({ provider: { claimsInUserinfoOnly: true } })
  await lab.connect('acme')
})
afterAll(() => lab.close())

test('opens a session, and asks for the address where the ID token has none', async () => {
  const browser = lab.browser()
  const callback = await browser.toCallback('acme', 'kim', '/somewhere')
  lab.provider.requests.length = 0
  const landed = await browser.go(callback)
  expect([landed.status, landed.location, landed.text]).toEqual([303, '/somewhere', ''])
  expect(landed.headers.get('cache-control')).toBe('no-store')
  expect(lab.provider.requests).toEqual(['POST /token', 'GET /jwks', 'GET /me'])
  const [row] = await lab.hub.test.database.withTenant('acme', (tx) =>
    tx.db
      .selectFrom('hub.users')
      .select(['email', 'display_name', 'last_sign_in_at'])
      .where('tenant_id', '=', 'acme')
      .execute(),
  )
  expect(row).toEqual({ email: kim.email, display_name: kim.name, last_sign_in_at: expect.any(String) })
})

test('an address that userinfo says is not verified does not sign in', async () => {
  lab.provider.accounts.set('eve', { sub: 'eve', email: 'eve@acme.example', email_verified: false })
  const refused = await lab.browser().signIn('acme', 'eve')
  expect([refused.status, refused.body.reason]).toEqual([401, 'email_unverified'])
})

test.each([
  ['nothing at all', ''],
  ['no cookie', '?code=x&state=y'],
  ['an error without a cookie', '?error=access_denied&state=y'],
  ['a code that is far too long', `?code=${'x'.repeat(8193)}&state=y`],
])('refused: %s', async (_name, query) => {
  const answer = await lab.browser().go(`${callbackPath}${query}`)
  expect([answer.status, answer.body.type]).toEqual([400, `${lab.hub.baseUrl}/errors/validation-failed`])
})

test('somebody who was deactivated does not come back in', async () => {
  lab.provider.accounts.set('lea', { sub: 'lea', email: 'lea@acme.example' })
  expect((await lab.browser().signIn('acme', 'lea')).status).toBe(303)
  const { items } = (await lab.hub.call('acme', 'GET', '/api/v1/roster/users?limit=1000')).body
  const lea = items.find((user: { email: string }) => user.email === 'lea@acme.example')
  const answer = await lab.hub.call('acme', 'POST', `/api/v1/roster/users/${lea.user_id}:deactivate`)
  expect(answer.status).toBeLessThan(300)
  const refused = await lab.browser().signIn('acme', 'lea')
  expect([refused.status, refused.body.reason]).toEqual([401, 'deactivated'])
})

test('a web UI at another address is where a login leads, but for the pages of the service itself', async () => {
  const apart = await startOidcLab({ hub: { settings: { HUB_BROWSER_URL: 'http://127.0.0.1:5173' } } })
  try {
    await apart.connect('acme')
    expect((await apart.browser().signIn('acme', 'kim', '/records')).location).toBe('http://127.0.0.1:5173/records')
    expect((await apart.browser().signIn('acme', 'kim', '//evil.example')).location).toBe('http://127.0.0.1:5173/')
    expect((await apart.browser().signIn('acme', 'kim', '/session')).location).toBe('/session')
  } finally {
    await apart.close()
  }
})

test('guesses are charged to the address that makes them: who has a login gets through', async () => {
  const limited = await startOidcLab({ hub: { limitFactor: 1 } })
  try {
    await limited.connect('acme')
    const guesser = limited.browser()
    const answers: number[] = []
    for (let i = 0; i < 101; i += 1) answers.push((await guesser.go(`${callbackPath}?code=x&state=${i}`)).status)
    expect(answers).toEqual([...Array(100).fill(400), 429])
    const landed = await limited.browser().signIn('acme', 'kim')
    expect([landed.status, landed.headers.get('ratelimit-policy')]).toEqual([
      303,
      '"token";q=10;w=60, "tenant";q=100;w=60',
    ])
  } finally {
    await limited.close()
  }
})
