import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type AuthHub, startAuthHub } from './auth-hub.ts'
import { operator } from './auth-lab.ts'

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub({ limitFactor: 1 })
})
afterAll(() => hub.close())

const statuses = async (count: number, request: () => Promise<{ status: number }>) => {
  const seen: number[] = []
  for (let i = 0; i < count; i += 1) seen.push((await request()).status)
  return seen
}

test('a client gets ten tokens a minute, then an OAuth error with Retry-After', async () => {
  const { client_id, client_secret } = await hub.account('acme')
  const ask = () => hub.requestToken({ client_id, client_secret })
  expect(await statuses(10, ask)).toEqual(Array(10).fill(200))
  const { status, headers, body } = await ask()
  expect(status).toBe(429)
  expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(headers.get('ratelimit-policy')).toContain('q=10')
  expect(body).toMatchObject({ type: `${hub.url}/errors/rate-limited`, error: expect.any(String) })
  const other = await hub.account('acme')
  expect((await hub.requestToken(other as unknown as Record<string, string>)).status).toBe(200)
})

describe('guessing', () => {
  const guesses = (count: number, clientId: (index: number) => string) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        hub.requestToken({ client_id: clientId(index), client_secret: 'wrong' }).then(({ status }) => status),
      ),
    )
  const countOf = (seen: readonly number[], status: number) => seen.filter((each) => each === status).length

  test('runs out by address and client id, then by address, and locks nobody out', async () => {
    const { client_id, client_secret } = await hub.account('globex')
    const first = await guesses(500, () => client_id)
    expect([countOf(first, 401), countOf(first, 429)]).toEqual([10, 490])
    const second = await guesses(500, (index) => `saGuessed${index}`)
    expect([countOf(second, 401), countOf(second, 429)]).toEqual([90, 410])

    // From the same address: the account that was guessed at, and another one. Nothing was taken from their tenant.
    const ask = (fields: Record<string, string>) => hub.requestToken(fields)
    const right = await ask({ client_id, client_secret })
    expect(right.status).toBe(200)
    expect(right.headers.get('ratelimit')).toMatch(/"token";r=9;t=\d+, "tenant";r=99;t=\d+/)
    const neighbour = await hub.account('globex')
    const fields = { client_id: neighbour.client_id, client_secret: neighbour.client_secret }
    expect(await statuses(10, () => ask(fields))).toEqual(Array(10).fill(200))
    // Still over the limit, and told so: not whether the guess was near.
    const refused = await ask({ client_id, client_secret: `${client_secret}x` })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('ratelimit-policy')).toBe('"address";q=10;w=60')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  })

  test('with a header, or a form, that cannot be read runs out as well', async () => {
    const other = await startAuthHub({ limitFactor: 1 })
    onTestFinished(() => other.close())
    const basic = () => other.requestToken({}, { authorization: 'Basic %%%' })
    expect((await other.requestToken({ grant_type: '' })).status).toBe(400)
    expect(await statuses(10, basic)).toEqual(Array(10).fill(401))
    const refused = await basic()
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([429, null])
    const { client_id, client_secret } = await other.account('acme')
    expect((await other.requestToken({ client_id, client_secret })).status).toBe(200)
  })

  test('at a bearer token keeps no good token out', async () => {
    const account = await hub.account('acme', ['hub:read'])
    const token = (await hub.requestToken({ client_id: account.client_id, client_secret: account.client_secret })).body
    const path = '/api/v1/service-accounts'
    const seen = await statuses(105, () => hub.call('acme', 'GET', path, { token: 'wrong' }))
    expect([countOf(seen, 401), countOf(seen, 429)]).toEqual([100, 5])
    const good = await hub.call('acme', 'GET', '/api/v1/hub/records', { token: token.access_token })
    expect(good.status).toBe(200)
    expect(good.headers.get('ratelimit')).toMatch(/"tenant";r=9999;/)
  })
})

test('a tenant’s own limit holds for its tokens', async () => {
  const limits = { auth: { per_token: 2, per_tenant: 3 } }
  await hub.hub.modules.tenants.operated.update('cmode', { limits }, operator)
  const [first, second] = [await hub.account('cmode'), await hub.account('cmode')]
  const ask = (account: typeof first) => () =>
    hub.requestToken({ client_id: account.client_id, client_secret: account.client_secret })
  expect(await statuses(3, ask(first))).toEqual([200, 200, 429])
  expect(await statuses(2, ask(second))).toEqual([200, 429])
})
