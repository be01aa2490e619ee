import { decodeJwt } from 'jose'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createApp } from '../../server/app.ts'
import { loadConfig } from '../../server/config.ts'
import { createModules } from '../../server/create-modules.ts'
import { type Answer, type AuthHub, startAuthHub } from './auth-hub.ts'

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub({ settings: { HUB_TRUSTED_PROXIES: '127.0.0.0/8' } })
})
afterAll(() => hub.close())

const path = '/api/v1/service-accounts'

async function create(limits: object = {}) {
  const body = { name: 'app', scopes: ['hub:read', 'telemetry:read'], ...limits }
  const made = await hub.call('acme', 'POST', path, { body })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  const { client_id, client_secret } = made.body
  return { client_id, client_secret } as { client_id: string; client_secret: string }
}

const use = async (token: string, headers: Record<string, string> = {}) =>
  (await hub.call('acme', 'GET', '/api/v1/hub/records', { token, headers })).status

/** Another process of the service: the same database, and a memory of its own. */
async function secondProcess() {
  const { database, masterKey } = hub.hub.test
  const logger = pino({ level: 'silent' })
  const config = loadConfig({ HUB_PORT: '0', HUB_LIMIT_FACTOR: '1000' })
  const baseUrl = () => hub.url
  const modules = await createModules({ config, database, masterKey, baseUrl, log: logger })
  const app = await createApp(modules, { config, baseUrl, logger, checkResponses: true })
  onTestFinished(async () => {
    await app.close()
    await modules.close()
  })
  return async (fields: Record<string, string>): Promise<Pick<Answer, 'status' | 'body'>> => {
    const payload = new URLSearchParams({ grant_type: 'client_credentials', ...fields }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded', host: '127.0.0.1' }
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/api/v1/oauth/token', headers, payload })
    return { status: statusCode, body: JSON.parse(body) }
  }
}

describe('rotation', () => {
  test('while requests go on, no process ever refuses one', async () => {
    const elsewhere = await secondProcess()
    const account = await create()
    const inUse = { secret: account.client_secret }
    const refused: number[] = []
    let asked = 0
    let going = true
    /** A program that reads its secret anew before each request. */
    const program = async (request: (fields: Record<string, string>) => Promise<Pick<Answer, 'status' | 'body'>>) => {
      while (going) {
        const answer = await request({ client_id: account.client_id, client_secret: inUse.secret })
        asked += 1
        if (answer.status !== 200) refused.push(answer.status)
        else if ((await use(answer.body.access_token)) !== 200) refused.push(-1)
      }
    }
    const programs = [hub.requestToken, hub.requestToken, elsewhere, elsewhere].map(program)
    for (let round = 0; round < 5; round += 1) {
      const until = asked + 40
      await expect.poll(() => asked >= until, { interval: 5 }).toBe(true)
      const rotated = await hub.call('acme', 'POST', `${path}/${account.client_id}:rotate-secret`)
      // Programs learn of it while others still use the one before.
      inUse.secret = rotated.body.client_secret
    }
    going = false
    await Promise.all(programs)
    expect(refused).toEqual([])
    expect(asked).toBeGreaterThan(200)
  })
})

describe('an end', () => {
  test('caps the lifetime of tokens, and when it has come there are none', async () => {
    const endMs = Math.floor(Date.now() / 1000) * 1000 + 600_000
    const account = await create({ expires_at: new Date(endMs).toISOString() })
    const { access_token: token, expires_in } = (await hub.requestToken(account)).body
    expect(decodeJwt(token).exp).toBe(endMs / 1000)
    expect(expires_in).toBeLessThanOrEqual(600)
    expect(expires_in).toBeGreaterThan(0)
    expect(await use(token)).toBe(200)

    onTestFinished(() => void vi.useRealTimers())
    vi.useFakeTimers({ toFake: ['Date'], now: endMs - 1_500 })
    const last = await hub.requestToken(account)
    expect([last.status, last.body.expires_in]).toEqual([200, 2])
    vi.setSystemTime(endMs)
    const refused = await hub.requestToken(account)
    expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client'])
    // Clocks may differ by five seconds.
    vi.setSystemTime(endMs + 5_001)
    expect(await use(token)).toBe(401)
    expect(await use(last.body.access_token)).toBe(401)
  })

  test('later than an hour away leaves tokens their hour; moved nearer it ends them', async () => {
    const account = await create({ expires_at: new Date(Date.now() + 7_200_000).toISOString() })
    const { access_token: token, expires_in } = (await hub.requestToken(account)).body
    expect(expires_in).toBe(3600)
    const expires_at = new Date(Date.now() + 600_000).toISOString()
    await hub.call('acme', 'PATCH', `${path}/${account.client_id}`, { body: { expires_at } })
    expect(await use(token)).toBe(401)
    const next = (await hub.requestToken(account)).body
    expect(next.expires_in).toBeLessThanOrEqual(600)
    expect(await use(next.access_token)).toBe(200)
  })
})

describe('a list of addresses', () => {
  const from = (forwarded: string) => ({ 'x-forwarded-for': forwarded })

  test('is asked for each token and each request, by the address that the proxy saw', async () => {
    const account = await create({ allowed_addresses: ['10.0.0.0/8', '2001:db8::/32'] })
    for (const address of ['10.1.2.3', '2001:db8::7', '::ffff:10.1.2.3']) {
      const { status, body } = await hub.requestToken(account, from(address))
      expect([address, status]).toEqual([address, 200])
      expect(await use(body.access_token, from('10.200.0.1'))).toBe(200)
      expect(await use(body.access_token, from('203.0.113.9'))).toBe(401)
      // What a caller writes before the proxy's own entry is worth nothing.
      expect(await use(body.access_token, from('10.1.2.3, 203.0.113.9'))).toBe(401)
      expect(await use(body.access_token)).toBe(401)
    }
  })

  test('is told to whoever has the secret, and to nobody else', async () => {
    const account = await create({ allowed_addresses: ['10.0.0.0/8'] })
    const { status, body } = await hub.requestToken(account, from('203.0.113.9'))
    expect(status).toBe(403)
    expect(body).toMatchObject({
      type: `${hub.url}/errors/address-not-allowed`,
      error: 'unauthorized_client',
      error_description: expect.stringContaining('allowed_addresses'),
    })
    const wrong = await hub.requestToken({ ...account, client_secret: 'hubsWrong' }, from('203.0.113.9'))
    const unknown = await hub.requestToken({ ...account, client_id: 'saUnknown' }, from('203.0.113.9'))
    expect([wrong.status, { ...wrong.body, instance: '' }]).toEqual([401, { ...unknown.body, instance: '' }])
  })

  test('changed ends the tokens that were issued under the one before', async () => {
    const account = await create({ allowed_addresses: ['10.0.0.0/8'] })
    const { access_token: token } = (await hub.requestToken(account, from('10.0.0.1'))).body
    const body = { allowed_addresses: ['10.0.0.1', '192.0.2.0/24'] }
    await hub.call('acme', 'PATCH', `${path}/${account.client_id}`, { body })
    expect(await use(token, from('10.0.0.1'))).toBe(401)
    expect((await hub.requestToken(account, from('10.0.0.2'))).status).toBe(403)
    expect((await hub.requestToken(account, from('192.0.2.1'))).status).toBe(200)
  })
})

describe('another process', () => {
  test('stops at once to give tokens to an account that was disabled here', async () => {
    const elsewhere = await secondProcess()
    const account = await create()
    expect((await elsewhere(account)).status).toBe(200)
    await hub.call('acme', 'DELETE', `${path}/${account.client_id}`)
    const attempt = async () => {
      const answer = await elsewhere(account)
      // One that was given from memory is good for nothing here, and for five seconds elsewhere at most.
      if (answer.status === 200) expect(await use(answer.body.access_token)).toBe(401)
      return answer.status
    }
    await expect.poll(attempt, { interval: 20 }).toBe(401)
  })

  test('gives no token of scopes that were taken away here, but one of those that are left', async () => {
    const elsewhere = await secondProcess()
    const account = await create()
    expect((await elsewhere(account)).body.scope).toBe('hub:read telemetry:read')
    await hub.call('acme', 'PATCH', `${path}/${account.client_id}`, { body: { scopes: ['hub:read'] } })
    const attempt = async () => {
      const { body } = await elsewhere(account)
      return [body.scope, await use(body.access_token)]
    }
    await expect.poll(attempt, { interval: 20 }).toEqual(['hub:read', 200])
  })
})
