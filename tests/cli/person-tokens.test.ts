import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { renewalTimeoutSeconds } from '../../cli/login/authorization-server.ts'
import { endLogin } from '../../cli/login/end-login.ts'
import { LoginFile, type PersonLogin } from '../../cli/login/login-file.ts'
import { personTokens } from '../../cli/login/person-tokens.ts'
import { refreshGraceSeconds } from '../../contract/limits.ts'

/** Renewal and end of a login, at a server whose responses the tests choose. */

let folder: string
let server: Server
let login: PersonLogin
let handle: RequestListener
let requests: string[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hub-tokens-'))
  requests = []
  server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    handle(request, response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  login = {
    kind: 'person',
    version: 1,
    hub_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tenant: 'acme',
    client_id: 'hubc.x.y',
    access_token: 'old',
    refresh_token: 'r',
    renew_after_ms: 0,
    expires_at_ms: 0,
  }
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
  await rm(folder, { recursive: true })
})

const answer =
  (status: number, body: object | string = '', type = 'application/json'): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': type }).end(typeof body === 'string' ? body : JSON.stringify(body))
const renewed = { access_token: 'new', token_type: 'bearer', expires_in: 600, refresh_token: 'r2' }

test('callers at the same time share one renewal', async () => {
  handle = answer(200, renewed)
  const file = new LoginFile(folder)
  await file.exclusively(() => file.write(login))
  const tokens = await Promise.all([1, 2, 3].map(() => personTokens(new LoginFile(folder), login)()))
  expect(tokens).toEqual(['new', 'new', 'new'])
  expect(requests).toEqual(['POST /api/v1/oauth/token'])
})

test('a renewal that times out leaves time for another one within the grace', () => {
  expect(renewalTimeoutSeconds * 2).toBeLessThanOrEqual(refreshGraceSeconds)
})

const ended = { error: 'invalid_grant', error_description: 'The session has ended.' }
test.each([
  ['a confirmation', 204, '', true],
  ['a page', 200, '<html></html>', false],
  ['a refusal', 403, '', false],
  ['an unknown address', 404, '<html></html>', false],
])('%s of the logout says whether the login has ended', async (_, status, body, isEnded) => {
  handle = answer(status, body, 'text/html')
  expect(await endLogin(login, async () => 'a')).toBe(isEnded)
  expect(requests).toEqual(['POST /api/v1/auth/logout'])
})

test.each([
  ['the end of the login', 400, ended, true],
  ['an unknown client', 401, { error: 'invalid_client' }, false],
  ['a refusal', 403, '', false],
  ['an unknown address', 404, '<html></html>', false],
  ['a page', 200, '<html></html>', false],
])('%s as response to the renewal says whether the login has ended', async (_, status, body, isEnded) => {
  handle = answer(status, body, typeof body === 'string' ? 'text/html' : undefined)
  expect(await endLogin(login)).toBe(isEnded)
  expect(requests).toEqual(['POST /api/v1/oauth/token'])
})

test('a renewed token ends a login that the file no longer has', async () => {
  handle = (request, response) =>
    (request.url?.endsWith('/token') ? answer(200, renewed) : answer(204))(request, response)
  expect(await endLogin(login)).toBe(true)
  expect(requests).toEqual(['POST /api/v1/oauth/token', 'POST /api/v1/auth/logout'])
})

test.each([429, 500, 503])('status %i says nothing: it can be tried again', async (status) => {
  handle = answer(status)
  await expect(endLogin(login, async () => 'a')).rejects.toMatchObject({ name: 'HubConnectionError' })
  await expect(endLogin(login)).rejects.toMatchObject({ name: 'HubConnectionError' })
})

test('a server that cannot be reached is no end', async () => {
  handle = (request) => request.socket.destroy()
  await expect(endLogin(login, async () => 'a')).rejects.toMatchObject({ name: 'HubConnectionError' })
})
