import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { build, type Rolldown } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TelemetryEvent } from '../../../sdk/typescript/src/index.ts'
import { prepareTelemetry } from '../../api/telemetry-tenants.ts'
import { eventsOf } from '../../otlp/otlp-lab.ts'
import { launchBrowser } from '../../support/browser.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import { event } from '../../telemetry/events.ts'
import { type PackedSdk, packSdk } from './packed-sdk.ts'

const path = '/page-with-the-sdk'

let hub: TestHub
let browser: Browser
let sdk: PackedSdk
let html: string
const servers: Server[] = []
/** The origin that HUB_BROWSER_URL names: the only one besides its own that may call the Hub. */
let admitted: string
beforeAll(async () => {
  sdk = await packSdk()
  html = `<!doctype html><title>Page</title><script type="module">${await bundle(sdk.folder)}</script>`
  admitted = await serveThePage()
  hub = await startHub({ settings: { HUB_BROWSER_URL: admitted } })
  await prepareTelemetry(hub, 'acme')
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await hub?.stop()
  for (const server of servers) server.close()
  if (sdk) await rm(sdk.folder, { recursive: true, force: true })
})

/** Serves the page at an origin of its own. A page that the browser is given otherwise counts as one of a public network. */
async function serveThePage(): Promise<string> {
  const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(html))
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Bundles a page's script with the packed SDK for browsers. */
async function bundle(folder: string): Promise<string> {
  const entry = join(folder, 'page.js')
  await writeFile(
    entry,
    `import { HubClient, HubConnectionError } from '@org-memory-hub/sdk'
     Object.assign(window, { HubClient, HubConnectionError })`,
  )
  const options = { write: false, lib: { entry, formats: ['es' as const] }, target: 'es2022' }
  const built = await build({ root: folder, configFile: false, logLevel: 'error', build: options })
  const [{ output }] = built as Rolldown.RolldownOutput[] as [Rolldown.RolldownOutput]
  // One file: the spool of Node must not become part of a page.
  expect(output).toHaveLength(1)
  expect(output[0].code).not.toMatch(/from ['"]node:/)
  return output[0].code
}

interface Sent {
  accepted: number
  queued: number
  isFlushed: boolean
  errors: string[]
}

type Sdk = typeof import('../../../sdk/typescript/src/index.ts')

async function openPage(origin: string) {
  const page = await browser.newPage()
  // Only here: pages with a route send no preflight.
  if (origin === hub.baseUrl)
    await page.route(`${origin}${path}`, (route) => route.fulfill({ contentType: 'text/html', body: html }))
  await page.goto(`${origin}${path}`)
  await page.waitForFunction(() => 'HubClient' in globalThis)
  return page
}

async function accountOf(sessionId: string) {
  const token = await hub.token('acme', ['telemetry:write'])
  return { baseUrl: hub.baseUrl, token, json: JSON.stringify(event({ session_id: sessionId })) }
}

/** Opens the page at an origin, tracks events there with the SDK, and returns what the page saw. */
async function trackInPage(origin: string, sessionId: string, count: number): Promise<Sent> {
  const page = await openPage(origin)
  const given = { ...(await accountOf(sessionId)), count }
  try {
    return await page.evaluate(async ({ baseUrl, token, count, json }) => {
      const event: TelemetryEvent = JSON.parse(json)
      const { HubClient, HubConnectionError } = globalThis as never as Sdk
      const errors: string[] = []
      const onError = (error: unknown) =>
        errors.push(error instanceof HubConnectionError ? 'HubConnectionError' : String(error))
      const client = new HubClient({
        ...{ baseUrl, tenant: 'acme', accessToken: async () => token },
        telemetry: { maxBatchEvents: 40, flushIntervalMs: 50, onError },
      })
      for (let at = 0; at < count; at += 1) await client.telemetry.track({ ...event, tokens_in: at })
      await client.telemetry.trace(event, async () => 'answer')
      // A flush returns early once the page knows that the Hub cannot be reached.
      const waiting = new AbortController()
      const flushed = client.telemetry.flush({ timeoutMs: 20_000 }).finally(() => waiting.abort())
      const refused = (async () => {
        while (errors.length === 0 && !waiting.signal.aborted) await new Promise((wake) => setTimeout(wake, 10))
        return false
      })()
      const isFlushed = await Promise.race([flushed, refused])
      const { accepted, queued } = client.telemetry.stats
      return { accepted, queued, isFlushed, errors }
    }, given)
  } finally {
    await page.close()
  }
}

test.each([
  ['a page of the Hub’s own origin', () => hub.baseUrl],
  ['a page of HUB_BROWSER_URL, which CORS admits', () => admitted],
])('%s sends events with the bundled SDK', async (name, origin) => {
  const sent = await trackInPage(origin(), name, 100)
  expect(sent).toEqual({ accepted: 101, queued: 0, isFlushed: true, errors: [] })
  const stored = await eventsOf(hub, 'acme', `&session_id=${encodeURIComponent(name)}`)
  const { tokens_in } = event()
  expect(new Set(stored.map((each) => each.tokens_in))).toEqual(new Set([...Array(100).keys(), tokens_in]))
  expect(stored).toHaveLength(101)
})

test.each([
  ['a few', 3, { requests: 1, bytesMin: 2000 }],
  ['more than may', 200, { requests: 2, bytesMin: 64_000 }],
])('a page that is left sends its newest events by a request that outlives it: %s', async (session, count, sent) => {
  const page = await openPage(admitted)
  await page.evaluate(
    async ({ baseUrl, token, count, json }) => {
      const event: TelemetryEvent = JSON.parse(json)
      const { HubClient } = globalThis as never as Sdk
      const send = fetch
      // Notes the requests where the next page of this origin finds them.
      globalThis.fetch = (address, init) => {
        const { keepalive = false, body } = init as { keepalive?: boolean; body: Uint8Array }
        sessionStorage.setItem(String(sessionStorage.length), JSON.stringify({ keepalive, bytes: body.length }))
        return send(address, init)
      }
      const telemetry = { flushIntervalMs: 3_600_000 }
      const client = new HubClient({ baseUrl, tenant: 'acme', accessToken: async () => token, telemetry })
      const metadata = { text: 'x'.repeat(500) }
      for (let at = 0; at < count; at += 1) await client.telemetry.track({ ...event, tokens_in: at, metadata })
    },
    { ...(await accountOf(session)), count },
  )
  await page.goto(`${admitted}/next`)
  const requests = await page.evaluate(() => Object.values(sessionStorage).map((text) => JSON.parse(text)))
  await page.close()
  // The browser may have dropped the older events of many.
  const stored = () => eventsOf(hub, 'acme', `&session_id=${encodeURIComponent(session)}`)
  await expect.poll(async () => (await stored()).map(({ tokens_in }) => tokens_in)).toContain(count - 1)
  const kept = requests.filter(({ keepalive }) => keepalive)
  expect([requests.length, kept.length]).toEqual([sent.requests, 1])
  expect(kept[0].bytes).toBeGreaterThan(sent.bytesMin)
  expect(kept[0].bytes).toBeLessThanOrEqual(65_536)
})

test('a page of any other origin stores nothing, and is told that the Hub cannot be reached', async () => {
  const sent = await trackInPage(await serveThePage(), 'other origin', 10)
  expect(sent).toMatchObject({ accepted: 0, queued: 11, isFlushed: false })
  expect(sent.errors[0]).toBe('HubConnectionError')
  expect(await eventsOf(hub, 'acme', '&session_id=other%20origin')).toEqual([])
})
