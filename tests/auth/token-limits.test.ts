import { afterAll, beforeAll, expect, test } from 'vitest'
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

test('guessing runs out by address and client id, and takes nothing from the tenant', async () => {
  const { client_id, client_secret } = await hub.account('globex')
  const guess = () => hub.requestToken({ client_id, client_secret: 'wrong' })
  expect(await statuses(12, guess)).toEqual([...Array(10).fill(401), 429, 429])
  const neighbour = await hub.account('globex')
  const ask = () => hub.requestToken({ client_id: neighbour.client_id, client_secret: neighbour.client_secret })
  expect((await ask()).status).toBe(200)
  expect(client_secret).not.toBe('')
})

test('a tenant’s own limit holds for its tokens', async () => {
  const limit = { perToken: 2, perTenant: 3 }
  await hub.hub.modules.tenants.administration.setLimit('cmode', 'auth', limit, operator)
  const [first, second] = [await hub.account('cmode'), await hub.account('cmode')]
  const ask = (account: typeof first) => () =>
    hub.requestToken({ client_id: account.client_id, client_secret: account.client_secret })
  expect(await statuses(3, ask(first))).toEqual([200, 200, 429])
  expect(await statuses(2, ask(second))).toEqual([200, 429])
})
