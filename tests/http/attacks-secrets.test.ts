import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'

/** What time and log may tell of secrets, of the threat list; the others are in attacks.test.ts. */

const records = '/api/v1/hub/records'
const queries: string[] = []
let hub: TestHub
let secretOfAccount: { client_id: string; client_secret: string }
beforeAll(async () => {
  hub = await startHub({ onQuery: (text) => queries.push(text) })
  const account = { name: 'victim', scopes: ['hub:read'] }
  secretOfAccount = await hub.modules.auth.serviceAccounts.create(await hub.tenant('acme'), account, {
    operator: 'test',
  })
})
afterAll(() => hub.stop())

describe('15 timing of secrets', () => {
  const ask = async (client_id: string, client_secret: string, basic: boolean) => {
    const before = queries.length
    const response = await fetch(`${hub.baseUrl}/api/v1/oauth/token`, {
      method: 'POST',
      headers: basic ? { authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` } : {},
      body: new URLSearchParams({ grant_type: 'client_credentials', ...(!basic && { client_id, client_secret }) }),
    })
    const { instance, ...body } = (await response.json()) as Record<string, unknown>
    const headers = Object.fromEntries(response.headers)
    for (const name of ['date', 'x-service-request-id']) delete headers[name]
    // Not what goes on in the background, such as telling the tenant of a wrong secret.
    const sql = queries.slice(before).filter((text) => /client_directory|service_account/.test(text))
    return { status: response.status, headers, body, sql, instance: typeof instance }
  }

  test.each([false, true])('an unknown client is not told from a wrong secret (Basic: %s)', async (basic) => {
    const { client_id: known, client_secret: secret } = secretOfAccount
    const other = await hub.modules.auth.serviceAccounts.create(
      await hub.tenant('globex'),
      { name: `other ${basic}`, scopes: ['hub:read'] },
      { operator: 'x' },
    )
    const unknown = `sa${'Z'.repeat(24)}`
    // Each client for the first time, so that none is in memory yet; then again, when one is. No is only ever said
    // after a look into the database: whether an account is in use would show otherwise.
    for (const round of [1, 2]) {
      const wrong = await ask(other.client_id, 'hubsWrong', basic)
      const stranger = await ask(`${unknown.slice(0, -1)}${basic ? 1 : 2}`, secret, basic)
      expect(stranger, `round ${round}`).toEqual(wrong)
      expect(wrong.status).toBe(401)
      expect(wrong.sql).toHaveLength(2)
    }
    const near = `${secret.slice(0, -1)}${secret.endsWith('a') ? 'b' : 'a'}`
    expect((await ask(known, near, basic)).status).toBe(401)
    expect((await ask(known, secret, basic)).status).toBe(200)
  })

  test('whatever is authenticated is compared in constant time', () => {
    const source = (file: string) => readFileSync(join(import.meta.dirname, '../../server', file), 'utf8')
    for (const file of [
      'modules/auth/service-accounts/client-secrets.ts',
      'http/cursor.ts',
      'modules/exports/download-url.ts',
      'modules/inbound/inbound-access.ts',
    ]) {
      expect(source(file)).toMatch(/timingSafeEqual\(/)
      // Neither digests nor their text forms by the operators and methods that stop at the first difference.
      expect(source(file)).not.toMatch(
        /\.equals\(|\.compare\(|(hash|mac|digest|secret)\w* ?===|=== ?(hash|mac|digest|secret)/i,
      )
    }
    expect(source('modules/auth/tokens/token-service.ts')).toMatch(/matchesAny\(/)
  })
})

describe('20 the log', () => {
  /** As bytes on a connection, for no HTTP library sends such headers. */
  function raw(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(hub.baseUrl).port), '127.0.0.1')
      let answer = ''
      socket.on('data', (chunk) => {
        answer += chunk
      })
      socket.on('end', () => resolve(answer)).on('error', reject)
      socket.write(text, 'latin1')
    })
  }
  const host = () => `Host: ${new URL(hub.baseUrl).host}\r\nConnection: close`

  test('cannot be forged by request id or reason', async () => {
    hub.logLines.length = 0
    const forged = '\r\n{"level":60,"msg":"forged"}\u001b[31m\u0007\u2028'
    const { record_id } = (
      await hub.call('acme', 'POST', records, { body: { record_type: 'artifact', title: forged } })
    ).body
    const answer = await hub.call('acme', 'DELETE', `${records}/${record_id}?reason=${encodeURIComponent(forged)}`)
    expect([200, 400]).toContain(answer.status)
    for (const id of ['a\x1b[31mb', 'a\x07b', '01890a5d-ac96-774b-bcce-b302099a8057\tX', 'a\x0bb', 'a\rb', 'a\nb']) {
      const text = await raw(`GET /v1/health HTTP/1.1\r\n${host()}\r\nX-Service-Request-ID: ${id}\r\n\r\n`)
      expect(text).toMatch(/^HTTP\/1\.1 (200|400) /)
      expect(text).toMatch(/\r\nx-service-request-id: [0-9a-f-]{36}\r\n/i)
    }
    await raw(`GET /v1/health?x=%0d%0a%1b[31m HTTP/1.1\r\n${host()}\r\nUser-Agent: \x1b[31m\r\n\r\n`)
    expect(hub.logLines.length).toBeGreaterThan(2)
    for (const line of hub.logLines) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      expect(line).toMatch(/^[^\x00-\x1f\x7f\u2028\u2029]+\n$/)
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number), msg: expect.not.stringMatching(/forged/) })
    }
  })

  test('says nothing of headers of 64 KiB but that they were refused', async () => {
    const answer = await raw(`GET /v1/health HTTP/1.1\r\n${host()}\r\nX-Long: ${'v'.repeat(65_536)}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
    expect(body).toMatchObject({ type: `${hub.baseUrl}/errors/headers-too-large`, status: 431 })
    expect(answer).toContain(`x-service-request-id: ${body.instance}`)
    expect(hub.logLines.join('')).not.toContain('vvvv')
  })

  test('never holds a token, a secret or content', async () => {
    const { client_id, client_secret } = secretOfAccount
    const credentials = { grant_type: 'client_credentials', client_id, client_secret }
    const ask = (headers: Record<string, string>, fields: Record<string, string>) =>
      fetch(`${hub.baseUrl}/api/v1/oauth/token`, { method: 'POST', headers, body: new URLSearchParams(fields) })
    const { access_token: token } = (await (await ask({}, credentials)).json()) as { access_token: string }
    await ask({ authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` }, { grant_type: 'client_credentials' })
    await ask({ authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` }, credentials)
    await ask({}, { ...credentials, scope: client_secret })
    await ask({}, { ...credentials, grant_type: client_secret })
    await fetch(`${hub.baseUrl}/api/v1/oauth/token?client_secret=${client_secret}`, { method: 'POST' })
    await fetch(`${hub.baseUrl}/${token}`, { headers: { cookie: `service_session=${token}` } })
    await hub.call('acme', 'GET', `${records}?cursor=${token}`, { token })
    await hub.call('globex', 'GET', records, { token })
    await hub.call('acme', 'GET', records, { token: `${token}x` })
    await hub.call('acme', 'POST', records, { body: { record_type: 'artifact', title: 'Confidential-7' } })
    await hub.call('acme', 'POST', records, { body: `{"title":"Confidential-7"` })
    const { welcome } = await hub.modules.tenants.administration.welcomeLink('acme')
    const link = new URL(welcome.url).pathname
    expect((await hub.call('acme', 'GET', link, { token: null })).status).toBe(200)
    const log = hub.logLines.join('')
    expect(hub.logLines.length).toBeGreaterThan(12)
    for (const secret of [client_secret, token, token.split('.')[2]!, 'Confidential-7', link.split('/').at(-1)!]) {
      expect(log).not.toContain(secret)
    }
  })
})
