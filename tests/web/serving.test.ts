import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formerPages, webPages } from '../../contract/web-paths.ts'
import { createApp } from '../../server/app.ts'
import { loadConfig } from '../../server/config.ts'
import { fillPage, publicFiles } from '../../server/modules/web-ui/web-ui-routes.ts'
import { cookieNames, signIn } from '../auth/people.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const web = resolve(import.meta.dirname, '../../web')

let hub: TestHub
/** Numbers so low that whatever is counted is refused the second time. */
beforeAll(async () => {
  hub = await startHub({ limitFactor: 0.001 })
  const own = { slug: 'customer', mode: 'C' as const, adminEmail: 'a@customer.example', baseUrl: 'http://c.localhost' }
  await hub.modules.tenants.administration.create(own, { operator: 'test' })
})
afterAll(() => hub.stop())

interface Asked {
  method?: 'GET' | 'HEAD' | 'POST'
  headers?: Record<string, string>
}

async function ask(url: string, { method = 'GET', headers = {} }: Asked = {}) {
  const host = new URL(hub.baseUrl).host
  const { statusCode: status, ...answer } = await hub.app.inject({ method, url, headers: { host, ...headers } })
  return { status, headers: answer.headers, text: answer.payload, bytes: answer.rawPayload }
}

/** URL parsers, as that of `inject`, take dots out of a path before it is sent. */
async function askAsWritten(path: string) {
  const { hostname, port } = new URL(hub.baseUrl)
  const [answer] = (await once(request({ hostname, port, path }).end(), 'response')) as [IncomingMessage]
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) }
}

const nonceOf = (policy: unknown) => /'nonce-([^']+)'/.exec(String(policy))?.[1]

describe('the page', () => {
  const paths = Object.values(webPages)
    .map((page) => page.replaceAll(/\$\w+/g, 'a%2Fb.c'))
    .flatMap((path) => [path, `${path}?d=e&f=g`, ...(path === '/' ? [] : [`${path}/`])])

  test.each(paths)('%s', async (path) => {
    const { status, headers, text } = await ask(path)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'referrer-policy': 'strict-origin',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(headers).not.toHaveProperty('set-cookie')
    expect(headers).not.toHaveProperty('vary')
    expect(text).toMatch(/^<!doctype html>/)
    expect(text).not.toContain('hub-api')
  })

  test.each(Object.entries(formerPages))('has moved from %s to %s, with its query', async (former, page) => {
    const { status, headers } = await ask(`${former}?tab=groups&d=e%26f`)
    expect([status, headers.location]).toEqual([308, `${page}?tab=groups&d=e%26f`])
  })

  test('has a route in the router of the UI at every one of these paths, and at no other', () => {
    const source = readFileSync(join(web, 'app/router.tsx'), 'utf8')
    const used = [...source.matchAll(/\bpath: (.+),/g)].map(([, path]) => path)
    expect(used).toEqual(Object.keys(webPages).map((name) => `webPages.${name}`))
  })

  test('has a nonce of its own in every answer, and nothing that the policy would stop', async () => {
    const answers = await Promise.all([ask('/'), ask('/'), ask('/records')])
    const nonces = answers.map(({ headers }) => nonceOf(headers['content-security-policy']))
    expect(new Set(nonces).size).toBe(3)
    for (const [index, { headers, text }] of answers.entries()) {
      expect(nonces[index]).toMatch(/^[A-Za-z0-9+/]{22}==$/)
      expect(headers['content-security-policy']).not.toContain('unsafe')
      expect(text).not.toContain('__CSP_NONCE__')
      expect(new Set([...text.matchAll(/nonce="([^"]+)"/g)].map(([, nonce]) => nonce))).toEqual(
        new Set([nonces[index]]),
      )
      expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|https?:/)
    }
  })

  test('names the environment in development only', async () => {
    const meta = '<meta name="hub-environment" content="development">'
    expect((await ask('/')).text).toContain(meta)
    const filled = (environment: 'development' | 'staging' | 'production') =>
      fillPage('<head></head>', { apiUrl: undefined, nonce: 'n', environment })
    expect(filled('development')).toContain(meta)
    expect([filled('staging'), filled('production')]).toEqual(['<head></head>', '<head></head>'])
  })

  test('has the key of a session for those who send its cookie, and is then kept nowhere', async () => {
    const cookieOf = async () => `${cookieNames.session}=${(await signIn(hub, 'acme')).session.sessionToken}`
    const [mine, other] = [await cookieOf(), await cookieOf()]
    const keyOf = async (cookie: string, path = '/') => {
      const { headers, text } = await ask(path, { headers: { cookie } })
      const [, value] = /<meta name="hub-session" content="(ses_[\w-]+ [0-9a-f]{64})">/.exec(text) ?? []
      expect(headers['cache-control']).toBe(value === undefined ? 'no-cache' : 'no-store')
      expect(headers).not.toHaveProperty('set-cookie')
      return value
    }
    const key = await keyOf(mine)
    expect(key).toBeDefined()
    expect(await keyOf(mine, '/records/x')).toBe(key)
    expect(new Set([key, await keyOf(other)].map((value) => value?.split(' ')[1])).size).toBe(2)
    for (const cookie of [
      '',
      'service_session=',
      'service_session=x',
      mine.slice(0, -9),
      `${mine}; ${other}`,
      `${mine}; ${mine}`,
    ]) {
      expect([cookie, await keyOf(cookie)]).toEqual([cookie, undefined])
    }
  })

  test('refers to files that are there', async () => {
    const references = [...(await ask('/')).text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path as string)
    expect(references.length).toBeGreaterThan(2)
    for (const path of references) expect((await ask(path)).status, path).toBe(200)
  })

  test('answers HEAD without a body', async () => {
    const { status, headers, bytes } = await ask('/records', { method: 'HEAD' })
    expect([status, headers['content-type'], bytes.length]).toEqual([200, 'text/html; charset=utf-8', 0])
    expect(nonceOf(headers['content-security-policy'])).toBeDefined()
  })

  test('is served at the own address of a tenant', async () => {
    const { status, text } = await ask('/records', { headers: { host: 'c.localhost' } })
    expect([status, text.includes('<div id="app">')]).toEqual([200, true])
  })

  test.each(['/recordsx', '/record', '/Records', '/index.html', '/sources.sha256', '/dist', '/main.tsx', '/.vite'])(
    'is not at %s',
    async (path) => {
      const { status, headers } = await ask(path)
      expect([status, headers['content-type']]).toEqual([404, 'application/problem+json; charset=utf-8'])
    },
  )

  const page = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

  test.each([
    '/recordz',
    '/nothing/here?x=1',
    '/errorz',
    '/API',
    '/index.html',
    '/settings/xyz',
    '/settings/people/xyz?x=1',
    '/records/a/b',
    '/governance/xyz/',
    '/usage',
  ])('says to a browser that nothing is at %s, with 404', async (path) => {
    const { status, headers, text } = await ask(path, { headers: page })
    expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(text).toContain('<div id="app">')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(text).toContain(`nonce="${nonceOf(headers['content-security-policy'])}"`)
    const head = await ask(path, { method: 'HEAD', headers: page })
    expect([head.status, head.bytes.length]).toEqual([404, 0])
  })

  test.each([
    ['/api/v1/nothing', page],
    ['/api', page],
    ['/api?x=1', page],
    ['/v1/nothing', page],
    ['/scim/v3/acme', page],
    ['/.well-known/nothing', page],
    ['/nothing', { accept: 'application/json' }],
    ['/nothing', { accept: '*/*' }],
    ['/nothing', { accept: 'text/html;q=0, application/json' }],
    ['/nothing', {}],
  ] as const)('leaves a problem document at %s for %j', async (path, headers) => {
    const answer = await ask(path, { headers })
    expect([answer.status, answer.headers['content-type']]).toEqual([404, 'application/problem+json; charset=utf-8'])
    expect(JSON.parse(answer.text).type).toBe(`${hub.baseUrl}/errors/not-found`)
  })

  test('answers other methods there with a problem document', async () => {
    const { status, headers } = await ask('/nothing', { method: 'POST', headers: page })
    expect([status, headers['content-type']]).toEqual([404, 'application/problem+json; charset=utf-8'])
  })

  test('takes nothing', async () => {
    for (const path of ['/', '/records', '/records/x', '/assets/x.js']) {
      const { status, headers } = await ask(path, { method: 'POST' })
      expect([path, status, headers.allow]).toEqual([path, 405, 'GET, HEAD'])
    }
  })
})

describe('its files', () => {
  const names = readdirSync(join(web, 'dist/assets')).filter((name) => name.endsWith('.js'))
  const largest = names
    .map((name) => ({ name, content: readFileSync(join(web, 'dist/assets', name)) }))
    .toSorted((a, b) => b.content.length - a.content.length)[0] as { name: string; content: Buffer }
  const address = `/assets/${largest.name}`

  test('are kept for a year, as their names change with their contents', async () => {
    const { status, headers, bytes } = await ask(address)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': expect.stringMatching(/^(text|application)\/javascript; charset=utf-8$/),
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      vary: 'accept-encoding',
      etag: expect.any(String),
    })
    expect(headers).not.toHaveProperty('content-encoding')
    expect(bytes.equals(largest.content)).toBe(true)
    expect(headers['content-security-policy']).not.toMatch(/nonce|unsafe/)
  })

  test.each([
    ['br', 'gzip, deflate, br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
  ])('come as %s for who accepts %s', async (encoding, accepted, decompress) => {
    const { status, headers, bytes } = await ask(address, { headers: { 'accept-encoding': accepted } })
    expect([status, headers['content-encoding'], headers.vary]).toEqual([200, encoding, 'accept-encoding'])
    expect(bytes.length).toBeLessThan(largest.content.length / 2)
    expect(decompress(bytes).equals(largest.content)).toBe(true)
    const again = await ask(address, {
      headers: { 'accept-encoding': accepted, 'if-none-match': String(headers.etag) },
    })
    expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, headers.etag])
  })

  test('answer HEAD, and a range with the whole', async () => {
    const head = await ask(address, { method: 'HEAD' })
    expect([head.status, head.bytes.length, Number(head.headers['content-length'])]).toEqual([
      200,
      0,
      largest.content.length,
    ])
    for (const range of ['bytes=0-9', 'bytes=5-', 'bytes=-1,3-4', 'bytes=999999999-']) {
      const { status, bytes } = await ask(address, { headers: { range } })
      expect([range, status, bytes.length]).toEqual([range, 200, largest.content.length])
    }
  })

  test('with names that stay are asked for again after an hour', async () => {
    expect(readdirSync(join(web, 'public')).sort()).toEqual([...publicFiles].sort())
    for (const name of publicFiles) {
      const { status, headers, text } = await ask(`/${name}`)
      expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=3600'])
      expect(text).toBe(readFileSync(join(web, 'public', name), 'utf8'))
      expect((await ask(`/${name}`, { headers: { 'if-none-match': String(headers.etag) } })).status).toBe(304)
    }
  })

  test.each([
    '/assets',
    '/assets/',
    '/assets/none.js',
    `${address}.br`,
    `${address}.gz`,
    `${address}/`,
    `/assets//${largest.name}`,
    `/assets/./${largest.name}`,
    `/assets/%2e/${largest.name}`,
    '/assets/../index.html',
    '/assets/..%2findex.html',
    '/assets/%2e%2e%2findex.html',
    '/assets/..%5cindex.html',
    '/assets/..%2f..%2f..%2fpackage.json',
    '/assets/%252e%252e%252findex.html',
    '/assets/%00',
    `${address}%00`,
    `/assets/%00/${largest.name}`,
    '/assets/%2fetc%2fpasswd',
    '/assets//etc/passwd',
    '/assets/.gitignore',
    '/icon.svg/',
    '/icon.svg%00',
  ])('%s is none', async (path) => {
    const { status, headers, text } = await askAsWritten(path)
    expect([status, headers['content-type']]).toEqual([404, 'application/problem+json; charset=utf-8'])
    expect([headers['cache-control'], JSON.parse(text).type]).toEqual(['no-store', `${hub.baseUrl}/errors/not-found`])
  })
})

test('nobody is counted for looking at it, whether or not there is something', async () => {
  const missing = Array.from({ length: 5 }, () => ask('/assets/none.js'))
  expect((await Promise.all(missing)).map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
  const { status, headers } = await ask('/')
  expect([status, headers['ratelimit-policy']]).toEqual([200, undefined])
})

describe('without a build', () => {
  let dist: string
  beforeAll(async () => {
    dist = await mkdtemp(join(tmpdir(), 'hub-no-build-'))
  })
  afterAll(() => rm(dist, { recursive: true, force: true }))

  async function withoutBuild(settings: Record<string, string>) {
    const config = loadConfig({ HUB_DATA_DIR: hub.dataDir, ...settings })
    const webUi = { dist, problem: 'Cannot find package vite in /srv/hub' }
    return createApp(hub.modules, { config, baseUrl: () => hub.baseUrl, logger: hub.app.log, webUi })
  }

  test('the page says why, and what to do; what is built later is served at once', async () => {
    const app = await withoutBuild({})
    for (const path of ['/', '/records/x']) {
      const { statusCode, headers, payload } = await app.inject(path)
      expect([statusCode, headers['content-type']]).toEqual([503, 'text/html; charset=utf-8'])
      expect(headers['cache-control']).toBe('no-store')
      expect(payload).toMatch(/The web UI is not built.*Cannot find package vite.*npm run build/s)
    }
    expect((await app.inject('/icon.svg')).statusCode).toBe(404)
    expect((await app.inject('/v1/health')).statusCode).toBe(200)
    await writeFile(join(dist, 'index.html'), '<!doctype html><p>built</p>')
    expect((await app.inject('/')).payload).toContain('built')
    await rm(join(dist, 'index.html'))
    await app.close()
  })

  test('outside development only the log states the reason', async () => {
    const app = await withoutBuild({ HUB_ENV: 'staging', HUB_BASE_URL: 'https://hub.example.com' })
    const { statusCode, payload } = await app.inject('/')
    expect(statusCode).toBe(503)
    expect(payload).toMatch(/The web UI is not built.*log states the reason.*npm run build/s)
    expect(payload).not.toContain('/srv/hub')
    await app.close()
  })
})
