import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../server/app.ts'
import { loadConfig } from '../../server/config.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const docs = resolve(import.meta.dirname, '../../docs')
const dist = join(docs, '.vitepress/dist')
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const built = readdirSync(dist, { recursive: true, encoding: 'utf8' })
const pages = built.filter((file) => file.endsWith('.html') && file !== '404.html')

let hub: TestHub
/** Numbers so low that whatever is counted is refused the second time. */
beforeAll(async () => {
  hub = await startHub({ limitFactor: 0.001 })
  const own = { slug: 'customer', mode: 'C' as const, adminEmail: 'a@customer.example', baseUrl: 'http://c.localhost' }
  await hub.modules.tenants.administration.create(own, { operator: 'test' })
})
afterAll(() => hub.stop())

async function ask(url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' | 'POST' = 'GET') {
  const { host } = new URL(hub.baseUrl)
  const { statusCode: status, ...answer } = await hub.app.inject({ method, url, headers: { host, ...headers } })
  return { status, headers: answer.headers, text: answer.payload, bytes: answer.rawPayload }
}

/** URL parsers, as that of `inject`, take dots out of a path before it is sent. */
async function askAsWritten(path: string, headers: Record<string, string> = {}) {
  const { hostname, port } = new URL(hub.baseUrl)
  const [answer] = (await once(request({ hostname, port, path, headers }).end(), 'response')) as [IncomingMessage]
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) }
}

/** Returns the address of a file of the build. */
const addressOf = (file: string) => `/docs/${file.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')}`

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

describe('a page', () => {
  test('exists for every page of docs/', () => {
    const sources = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((file) => /^[^.].*\.md$/.test(file))
    const expected = sources.map((file) =>
      file
        .replace(/^reference\//, '')
        .replace(/(^|\/)README\.md$/, '$1index.md')
        .replace(/md$/, 'html'),
    )
    expect(expected.length).toBeGreaterThan(100)
    expect(expected.filter((file) => !pages.includes(file))).toEqual([])
  })

  test('has the headers of every page, without sign-in and at every host', async () => {
    for (const file of pages) {
      const { status, headers } = await ask(addressOf(file))
      expect([file, status]).toEqual([file, 200])
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'content-security-policy': policy,
        'referrer-policy': 'strict-origin',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        etag: expect.any(String),
      })
      expect(headers).not.toHaveProperty('set-cookie')
      expect(headers).not.toHaveProperty('ratelimit-policy')
    }
    expect((await ask('/docs/operator', { host: 'c.localhost' })).status).toBe(200)
  })

  test('has nothing that the policy would stop', () => {
    for (const file of pages) {
      const inline = /<script(?![^>]*\bsrc=)|<style|<[^>]+\s(?:style|on\w+)=|(?:src|srcset)="(?:https?:)?\/\//
      expect([file, inline.exec(readFileSync(join(dist, file), 'utf8'))?.[0]]).toEqual([file, undefined])
    }
  })

  test('refers to files and pages that are there', async () => {
    const references = pages.flatMap((file) =>
      [...readFileSync(join(dist, file), 'utf8').matchAll(/(?:src|href)="(\/docs\/[^"#]*)/g)].map(([, path]) => path!),
    )
    const distinct = [...new Set(references)].filter((path) => !path.startsWith('/docs/../'))
    expect(distinct.length).toBeGreaterThan(200)
    for (const path of distinct) expect([path, (await ask(path)).status]).toEqual([path, 200])
  })

  test('of a quick start links only to pages, not to files of the checkout', () => {
    const starts = pages.filter((file) => file.startsWith('start/'))
    // A link to another file has no address, and the path of the file as its title.
    const dead = starts.flatMap((file) =>
      [...readFileSync(join(dist, file), 'utf8').matchAll(/<a title="([^"]*)">/g)].map(
        ([, path]) => `${file}: ${path}`,
      ),
    )
    expect(starts.length).toBeGreaterThanOrEqual(5)
    expect(dead).toEqual([])
  })

  test('names the version that it describes', async () => {
    const { version } = JSON.parse(readFileSync(join(docs, '../package.json'), 'utf8')) as { version: string }
    for (const path of ['/docs/', '/docs/operator']) expect((await ask(path)).text).toContain(`Version ${version}`)
  })

  test('is at most two clicks away from the start', () => {
    const linksOf = (address: string) => {
      const file = pages.find((each) => addressOf(each) === address)!
      const links = readFileSync(join(dist, file), 'utf8').matchAll(/href="(\/docs\/[^"#]*)/g)
      return [...links].map(([, link]) => link!).filter((link) => addresses.has(link))
    }
    const addresses = new Set(pages.map(addressOf))
    const first = new Set(linksOf('/docs/'))
    const reached = new Set([...first, ...[...first].flatMap(linksOf)])
    expect([...addresses].filter((address) => !reached.has(address))).toEqual([])
  })

  test('is asked for again, and not sent again if it is the same', async () => {
    const { headers } = await ask('/docs/operator')
    const again = await ask('/docs/operator', { 'if-none-match': String(headers.etag) })
    expect([again.status, again.bytes.length]).toEqual([304, 0])
  })

  test.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('comes compressed as %s', async (encoding, decompress) => {
    const { headers, bytes } = await ask('/docs/operator', { 'accept-encoding': encoding })
    expect([headers['content-encoding'], headers.vary]).toEqual([encoding, 'accept-encoding'])
    expect(decompress(bytes).toString()).toContain('<h1 id="operation"')
  })

  test('answers HEAD without a body, and no other method', async () => {
    const head = await ask('/docs/operator', {}, 'HEAD')
    expect([head.status, head.headers['content-type'], head.bytes.length]).toEqual([200, 'text/html; charset=utf-8', 0])
    for (const path of ['/docs', '/docs/', '/docs/operator', '/docs/none']) {
      const { status, headers } = await ask(path, {}, 'POST')
      expect([path, status, headers.allow]).toEqual([path, 405, 'GET, HEAD'])
    }
  })

  test('of the start is at /docs/', async () => {
    const { status, headers } = await ask('/docs')
    expect([status, headers.location]).toEqual([308, '/docs/'])
    expect((await ask('/docs/?x=1')).text).toContain('Start by role')
    expect((await ask('/docs/adr/')).text).toContain('Architecture decision records')
  })
})

describe('its files', () => {
  const script = built.find((file) => /^assets\/app\.[\w-]+\.js$/.test(file))!

  test('are kept for a year if their names change with their contents', async () => {
    const { status, headers, bytes } = await ask(`/docs/${script}`)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': expect.stringMatching(/^(text|application)\/javascript; charset=utf-8$/),
      'content-security-policy': policy,
    })
    expect(bytes.equals(readFileSync(join(dist, script)))).toBe(true)
  })

  test('with names that stay are asked for again after an hour', async () => {
    for (const [path, type] of [
      ['/docs/icon.svg', 'image/svg+xml'],
      ['/docs/vp-icons.css', 'text/css; charset=utf-8'],
      ['/docs/images/command-center.png', 'image/png'],
    ] as const) {
      const { status, headers } = await ask(path)
      expect([path, status, headers['content-type']]).toEqual([path, 200, type])
      expect(headers['cache-control']).toBe('public, max-age=3600')
    }
  })

  test('name no other host that a browser would call', () => {
    const scripts = built.filter((file) => /\.(js|css)$/.test(file))
    expect(scripts.length).toBeGreaterThan(100)
    for (const file of scripts) {
      // The theme would load the icons of links to social networks, which the site does not have.
      const source = readFileSync(join(dist, file), 'utf8').replaceAll('https://api.iconify.design/simple-icons/', '')
      expect([file, /(?:fetch|import|url)\(\s*["']?https?:/.exec(source)?.[0]]).toEqual([file, undefined])
    }
  })
})

describe('nothing', () => {
  const none = [
    '/docs/none',
    '/docs/none/',
    '/docs/operator/',
    '/docs/operator.html',
    '/docs/operator.md',
    '/docs/index.html.br',
    `/docs/${'a'.repeat(201)}`,
    '/docs/sources.sha256',
    '/docs/hashmap.json',
    '/docs/assets',
    '/docs/assets/',
    '/docs//operator',
    '/docs/./operator',
    '/docs/../docs/.vitepress/config.ts',
    '/docs/..%2fconfig.ts',
    '/docs/%2e%2e%2fconfig.ts',
    '/docs/assets/..%2f..%2f..%2f..%2fpackage.json',
    '/docs/..%5cconfig.ts',
    '/docs/%252e%252e%252fconfig.ts',
    '/docs/%00',
    '/docs/operator%00',
    '/docs/%2fetc%2fpasswd',
    '/docs//etc/passwd',
    '/docs/.vitepress/config.ts',
  ]

  test.each(none)('is at %s for programs', async (path) => {
    const { status, headers, text } = await askAsWritten(path)
    expect([status, headers['content-type']]).toEqual([404, 'application/problem+json; charset=utf-8'])
    expect([headers['cache-control'], JSON.parse(text).type]).toEqual(['no-store', `${hub.baseUrl}/errors/not-found`])
  })

  test.each(none.slice(0, 5))('is at %s for browsers, and a page says so', async (path) => {
    const { status, headers, text } = await askAsWritten(path, browser)
    expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect([headers['cache-control'], headers['content-security-policy']]).toEqual(['no-cache', policy])
    expect(text).toMatch(/<title>404 .*Org-Memory Hub<\/title>/)
  })
})

test('without a build the page says what to do, and the rest works', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hub-no-docs-'))
  const config = loadConfig({ HUB_DATA_DIR: hub.dataDir })
  const webUi = { docs: folder }
  const app = await createApp(hub.modules, { config, baseUrl: () => hub.baseUrl, logger: hub.app.log, webUi })
  for (const path of ['/docs/', '/docs/operator', '/docs/none']) {
    const { statusCode, headers, payload } = await app.inject(path)
    expect([statusCode, headers['cache-control']]).toEqual([503, 'no-store'])
    expect(payload).toMatch(/The documentation is not built.*npm run docs:build/s)
  }
  expect((await app.inject('/')).statusCode).toBe(200)
  await app.close()
  await rm(folder, { recursive: true, force: true })
})
