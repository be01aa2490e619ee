import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newClient, newPkce, requestOf } from '../auth/client-lab.ts'
import { type BrowserLab, kim, signInByMock, startBrowserLab } from './browser-lab.ts'

/** From nothing to a call and back: the client of the official SDK, and a person in a browser. */

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let lab: BrowserLab
/** The program of the client on the machine of the person. */
let listener: Server
let callback: string
const received: URL[] = []
beforeAll(async () => {
  lab = await startBrowserLab()
  await lab.add('acme', kim.email, 'analyst')
  listener = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (url.pathname === '/callback') received.push(url)
    response
      .setHeader('content-type', 'text/html')
      .end('<!doctype html><title>Done</title><h1>Back in the program</h1>')
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  callback = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`
})
afterAll(async () => {
  listener.close()
  await lab.close()
})

/** Stores what the SDK asks an application to keep, and the address that it opens in the browser. */
function memoryProvider() {
  const kept: Record<string, unknown> = {}
  const keep = (name: string) => (value: unknown) => {
    kept[name] = value
  }
  const provider = {
    redirectUrl: callback,
    clientMetadata: { client_name: 'Research agent', redirect_uris: [callback] },
    state: () => 'state-9',
    clientInformation: () => kept.client,
    saveClientInformation: keep('client'),
    tokens: () => kept.tokens,
    saveTokens: keep('tokens'),
    redirectToAuthorization: keep('authorization'),
    saveCodeVerifier: keep('verifier'),
    codeVerifier: () => kept.verifier,
    saveDiscoveryState: keep('discovery'),
    discoveryState: () => kept.discovery,
    invalidateCredentials: (what: string) => {
      delete kept[what]
    },
  } as unknown as OAuthClientProvider
  return { provider, kept }
}

async function passesAxe(page: Page, name: string): Promise<void> {
  await page.evaluate(axe)
  const { violations } = (await page.evaluate('axe.run()')) as AxeResults
  const found = violations.map(({ id, nodes }) => [id, nodes.map((node) => node.failureSummary)])
  expect([name, found]).toEqual([name, []])
  const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
  expect([name, overflow]).toEqual([name, 0])
}

test('discovery, registration, sign-in at the company, consent, a call, its end, and 401', async () => {
  const { provider, kept } = memoryProvider()
  const endpoint = new URL(lab.address('/mcp'))
  const connect = async () => {
    const client = new Client({ name: 'research', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    const transport = new StreamableHTTPClientTransport(endpoint, { authProvider: provider })
    return { client, transport, connected: client.connect(transport) }
  }
  const first = await connect()
  await expect(first.connected).rejects.toBeInstanceOf(UnauthorizedError)

  const context = await lab.profile()
  const page = await context.newPage()
  await page.goto(String(kept.authorization))
  await page.waitForURL('**/sign-in?**')
  await page.fill('#tenant', 'acme')
  await page.click('#company')
  await page.waitForURL(`${lab.provider.issuer}/**`)
  await page.fill('#sub', kim.sub)
  await page.click('#sign-in')
  // Coming from the identity provider, the browser has withheld the cookie.
  await page.click('#go-on')
  await page.getByRole('heading', { name: 'Connect Research agent?' }).waitFor()
  expect(await page.getByRole('checkbox').count()).toBe(2)
  await page.getByRole('checkbox', { name: 'telemetry:read' }).uncheck()
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.getByText('Back in the program').waitFor()

  const response = received.at(-1)?.searchParams
  expect([response?.get('state'), response?.get('iss')]).toEqual(['state-9', lab.hub.baseUrl])
  await first.transport.finishAuth(response as URLSearchParams)
  expect(kept.tokens).toMatchObject({ scope: 'hub:read', token_type: 'Bearer' })
  const { client, connected } = await connect()
  await connected
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('search_records')

  const sessions = await page.request.get(lab.address('/api/v1/auth/sessions'))
  const { items } = await sessions.json()
  const [own] = items.filter((item: { client_name?: string }) => item.client_name === 'Research agent')
  const ended = await page.request.delete(lab.address(`/api/v1/auth/sessions/${own.session_id}`))
  expect(ended.status()).toBe(204)
  const { access_token: token } = kept.tokens as { access_token: string }
  const call = await fetch(endpoint, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  expect([call.status, call.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining('resource_metadata'),
  ])
  // The SDK tries to refresh, learns that the authorization has ended, and asks the person again.
  await expect(client.listTools()).rejects.toBeInstanceOf(UnauthorizedError)
  await client.close()
  expect(lab.complaints).toEqual([])
  await context.close()
})

describe.each([
  { colorScheme: 'light', width: 390 },
  { colorScheme: 'dark', width: 1440 },
] as const)('the consent page in $colorScheme, $width pixels wide', ({ colorScheme, width }) => {
  test('can be used by everyone, and cancelled', async () => {
    const context = await lab.profile({ colorScheme, viewport: { width, height: 800 } })
    const page = await context.newPage()
    await signInByMock(page, lab, 'admin@acme.example')
    const name = 'A program with a name of one hundred characters, which is the longest one that a program may have, ok'
    const clientId = await newClient(lab.hub.baseUrl, { client_name: name.slice(0, 100), redirect_uris: [callback] })
    const query = new URLSearchParams(requestOf(clientId, newPkce(), { redirect_uri: callback, scope: undefined }))
    await page.goto(lab.address(`/api/v1/oauth/authorize?${query}`))
    await passesAxe(page, 'consent')
    const boxes = page.getByRole('checkbox')
    for (const box of await boxes.all()) await box.uncheck()
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.getByRole('alert').waitFor()
    await passesAxe(page, 'consent without a choice')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Back in the program').waitFor()
    expect(received.at(-1)?.searchParams.get('error')).toBe('access_denied')
    await page.goto(lab.address(`/api/v1/oauth/authorize?${query}&client_id=x`))
    await passesAxe(page, 'an error')
    expect(lab.complaints).toEqual([])
    await context.close()
  })
})

test('no page of another site shows it in a frame', async () => {
  const context = await lab.profile()
  const page = await context.newPage()
  await signInByMock(page, lab, kim.email)
  const clientId = await newClient(lab.hub.baseUrl, { redirect_uris: [callback] })
  const query = new URLSearchParams(requestOf(clientId, newPkce(), { redirect_uri: callback }))
  const framed = lab.address(`/api/v1/oauth/authorize?${query}`)
  await page.goto(callback.replace('/callback', '/'))
  const blocked = page.waitForEvent('console', { predicate: (message) => message.text().includes('frame-ancestors') })
  await page.evaluate(
    `document.body.append(Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(framed)} }))`,
  )
  await blocked
  await context.close()
})
