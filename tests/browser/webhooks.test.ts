import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cases, message, now, signedHeader } from '../sdk/webhook-vectors.ts'
import { launchBrowser } from '../support/browser.ts'

const secret = 'whsec_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'

/** As a page would write it: the verifier as it is, of which only the types are taken away. */
const script = `
import { verifyWebhook } from '/verify-webhook.ts'

const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
const outcome = (received) => verifyWebhook(received).then(
  (message) => ({ code: null, message }),
  (error) => ({ code: error.code ?? error.name }),
)
window.decide = ({ cases, nowMs }) => Promise.all(cases.map((one) => outcome({
  body: one.body ?? fromBase64(one.body_base64),
  signature: one.signature,
  secret: one.secrets,
  nowMs,
  ...(one.tolerance_seconds !== undefined && { toleranceSeconds: one.tolerance_seconds }),
})))
window.alterEach = async ({ body, signature, secret, nowMs }) => {
  const bytes = new TextEncoder().encode(body)
  return Promise.all(Array.from(bytes, (byte, at) =>
    outcome({ body: bytes.with(at, byte ^ (1 + (at % 255))), signature, secret, nowMs })))
}
window.byHeaders = ({ body, headers, secret, nowMs }) => outcome({ body, headers: new Headers(headers), secret, nowMs })
`

let server: Server
let browser: Browser
let page: Page

beforeAll(async () => {
  server = createServer((request, response) => {
    answer(request.url ?? '/').then(
      ({ type, body }) => response.writeHead(200, { 'content-type': type }).end(body),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  browser = await launchBrowser()
  page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  await page.waitForFunction('window.decide !== undefined')
})
afterAll(async () => {
  await browser?.close()
  server?.close()
})

async function answer(url: string): Promise<{ type: string; body: string }> {
  if (url === '/')
    return {
      type: 'text/html',
      body: '<!doctype html><title>Webhooks</title><script type="module" src="/page.js"></script>',
    }
  if (url === '/page.js') return { type: 'text/javascript', body: script }
  if (!/^\/[a-z-]+\.ts$/.test(url)) throw new Error('not found')
  const source = await readFile(join(import.meta.dirname, '../../sdk/typescript/src/webhooks', url), 'utf8')
  return { type: 'text/javascript', body: stripTypeScriptTypes(source) }
}

const inPage = (name: string, input: unknown) => page.evaluate(`window.${name}(${JSON.stringify(input)})`)
const nowMs = now * 1000

test('the verifier decides every vector in a browser', async () => {
  const outcomes = (await inPage('decide', { cases, nowMs })) as { code: string | null; message?: unknown }[]
  const decided = cases.map(({ name }, index) => [name, outcomes[index]?.code])
  expect(decided).toEqual(cases.map(({ name, refused }) => [name, refused]))
  for (const one of outcomes) if (one.code === null) expect(one.message).toEqual(message)
})

test('with any byte altered a body is refused', async () => {
  const body = JSON.stringify(message)
  const outcomes = (await inPage('alterEach', { body, signature: signedHeader(body, secret), secret, nowMs })) as {
    code: string
  }[]
  expect(outcomes).toHaveLength(Buffer.byteLength(body))
  expect(new Set(outcomes.map(({ code }) => code))).toEqual(new Set(['signature-mismatch']))
})

test('it takes the headers as a worker gets them', async () => {
  const body = JSON.stringify(message)
  const headers = { 'x-service-signature': signedHeader(body, secret), 'x-service-webhook-id': message.id }
  expect(await inPage('byHeaders', { body, headers, secret, nowMs })).toEqual({ code: null, message })
  const others = { ...headers, 'x-service-webhook-id': 'other' }
  expect(await inPage('byHeaders', { body, headers: others, secret, nowMs })).toEqual({ code: 'header-mismatch' })
})
