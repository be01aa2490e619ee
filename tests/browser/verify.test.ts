import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join, normalize } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeExport, sealedLog } from '../provenance/export-lab.ts'
import { launchBrowser } from '../support/browser.ts'

const core = join(import.meta.dirname, '../../provenance')
const made = makeExport(sealedLog([64, 1, 5, 2]), { keeps: (record) => record.record_type === 'artifact' })
const input = { file: made.file, manifest: JSON.stringify(made.manifest), keys: JSON.stringify(made.manifest.keys) }

/** As a page would write it: WebCrypto, and the core as it is, of which only the types are taken away. */
const script = `
import { parseKeyDocumentAsync, verifyRecord, itemOfResponse } from '/provenance/index.ts'
import { verifyExport } from '/provenance/export/verify-export.ts'

const crypto = {
  sha256: async (bytes) => new Uint8Array(await window.crypto.subtle.digest('SHA-256', bytes)),
  async verifyEd25519(publicKey, message, signature) {
    const key = await window.crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify'])
    return window.crypto.subtle.verify('Ed25519', key, signature, message)
  },
}
const keyRing = (keys) => parseKeyDocumentAsync(JSON.parse(keys), crypto.sha256)
const bytes = (text) => new TextEncoder().encode(text)

window.verifyWhole = async ({ file, manifest, keys }) =>
  verifyExport({ file: [bytes(file)], manifest: manifest && bytes(manifest), keys: await keyRing(keys) }, crypto)
window.verifyOne = async ({ record, keys }) =>
  verifyRecord({ ...itemOfResponse(JSON.parse(record)), keys: await keyRing(keys) }, crypto)
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
  await page.waitForFunction('window.verifyOne !== undefined')
})
afterAll(async () => {
  await browser?.close()
  server?.close()
})

async function answer(url: string): Promise<{ type: string; body: string }> {
  if (url === '/')
    return {
      type: 'text/html',
      body: '<!doctype html><title>Verify</title><script type="module" src="/page.js"></script>',
    }
  if (url === '/page.js') return { type: 'text/javascript', body: script }
  const path = normalize(url)
  if (!/^\/provenance\/(export\/)?[a-z0-9-]+\.ts$/.test(path)) throw new Error('not found')
  const source = await readFile(join(core, path.slice('/provenance/'.length)), 'utf8')
  return { type: 'text/javascript', body: stripTypeScriptTypes(source) }
}

const verifyWhole = (what: Partial<typeof input>) =>
  page.evaluate(`window.verifyWhole(${JSON.stringify({ ...input, ...what })})`) as Promise<Record<string, never>>

test('an export verifies in a browser, against its manifest and alone', async () => {
  expect(await verifyWhole({})).toMatchObject({
    verified: true,
    checked: made.rows.length,
    failures: [],
    manifest: { isSigned: true, isInLog: true, file: 'matches' },
  })
  const { manifest: _, ...alone } = input
  expect(await page.evaluate(`window.verifyWhole(${JSON.stringify(alone)})`)).toMatchObject({ verified: true })
})

test('a flipped byte, a removed line and an edited manifest are found', async () => {
  const flipped = made.file.replace('No. 7 ', 'No. 6 ')
  expect(await verifyWhole({ file: flipped })).toMatchObject({
    verified: false,
    failed: 1,
    failures: [{ line: 5, reason: 'hash-mismatch: the record does not have the stored hash' }, { line: null }],
  })
  const removed = made.rows
    .toSpliced(3, 1)
    .map((row) => `${row}\n`)
    .join('')
  expect(await verifyWhole({ file: removed })).toMatchObject({ verified: false, failed: 0, missing: 1 })
  const manifest = input.manifest.replace('"left_out":', '"left_out":1')
  expect(await verifyWhole({ manifest })).toMatchObject({ verified: false, failed: 0, missing: 0 })
})

test('a single record verifies, and not when a byte was flipped', async () => {
  const verifyOne = (record: string) =>
    page.evaluate(`window.verifyOne(${JSON.stringify({ record, keys: input.keys })})`)
  expect(await verifyOne(made.rows[3]!)).toMatchObject({ verified: true, failures: [] })
  expect(await verifyOne(made.rows[3]!.replace('acme', 'acmd'))).toMatchObject({
    verified: false,
    failures: [{ code: 'hash-mismatch' }],
  })
})
