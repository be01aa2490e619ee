import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { problems } from '../../contract/problems.ts'
import { html, renderPage } from '../../server/http/page.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const get = (path: string) => hub.call('acme', 'GET', path, { token: null, headers: { 'x-service-tenant': undefined } })

describe('the page behind a problem', () => {
  test.each(Object.keys(problems))('%s explains it and what to do', async (slug) => {
    const { status, headers, text } = await get(`/errors/${slug}`)
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    const words = text
      .replaceAll(/<\/?code>/g, '`')
      .replaceAll('&#39;', "'")
      .replaceAll('&quot;', '"')
    const { title, meaning, remedy, example } = problems[slug as keyof typeof problems]
    for (const part of [title, meaning, remedy, example, `"type": "https://hub.example.com/errors/${slug}"`])
      expect(words.replaceAll('&lt;', '<').replaceAll('&gt;', '>')).toContain(part)
  })

  test('is the `type` of the problem that the service answers with', async () => {
    const { body } = await get('/api/v1/nothing')
    expect(body.type.startsWith(hub.baseUrl)).toBe(true)
    expect((await get(new URL(body.type).pathname)).status).toBe(200)
  })

  test.each(['/errors/nothing', '/errors/__proto__', '/errors/constructor', '/errors/%3Cscript%3E'])(
    '%s is a 404 problem',
    async (path) => {
      const { status, headers } = await get(path)
      expect([status, headers['content-type']]).toEqual([404, 'application/problem+json; charset=utf-8'])
    },
  )

  test('is found from the list of all', async () => {
    const { text } = await get('/errors')
    for (const slug of Object.keys(problems)) expect(text).toContain(`href="/errors/${slug}"`)
  })

  test('of the list with a slash leads to the list', async () => {
    const { status, headers } = await get('/errors/')
    expect([status, headers.location]).toEqual([308, '/errors'])
  })
})

describe('the reference', () => {
  test('works without the Internet and without inline script', async () => {
    const { status, text, headers } = await get('/reference')
    expect(status).toBe(200)
    expect(text).toContain('<title>Org-Memory Hub API</title>')
    expect(text).not.toMatch(/petstore|https?:\/\/(?!www\.w3\.org)/)
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|\bon\w+=|<style/)
    expect(headers['content-security-policy']).toContain("script-src 'self';")
    expect(headers['content-security-policy']).not.toContain('unsafe')
    const assets = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path as string)
    expect(assets.length).toBe(6)
    for (const path of assets) expect((await get(path)).status, path).toBe(200)
    const initializer = assets.find((path) => path.endsWith('initializer.js')) as string
    expect((await get(initializer)).text).toContain('"layout":"BaseLayout"')
  })

  test('shows the description that the service gives of itself', async () => {
    expect((await get('/reference/json')).body).toEqual((await get('/v1/openapi.json')).body)
  })
})

describe('a page', () => {
  test('escapes what it is made of', () => {
    const name = '<script>alert("x")</script> & \'co\''
    const text = renderPage({ title: name, body: html`<a href="${name}">${[html`<b>${name}</b>`, html`${1}`]}</a>` })
    expect(text).not.toContain('<script>')
    expect(text).toContain('<b>&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;co&#39;</b>1</a>')
  })

  test('about an error says what came of it and where to go on; programs get the document', async () => {
    const path = '/api/v1/auth/callback?state=none'
    const asked = (accept: string) =>
      hub.call('acme', 'GET', path, { token: null, headers: { 'x-service-tenant': undefined, accept } })
    const page = await asked('text/html,application/xhtml+xml,*/*;q=0.8')
    expect([page.status, page.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8'])
    expect(page.text).toContain('<h1>You are not signed in</h1>')
    expect(page.text).toContain('<a href="/sign-in">Sign in</a>')
    expect(page.text).toContain(`<code>${page.headers['x-service-request-id']}</code>`)
    for (const accept of ['application/json', 'text/html;q=0', 'text/html;q=0.5, application/json']) {
      const document = await asked(accept)
      expect([document.status, document.body.title], accept).toEqual([400, 'Validation failed'])
    }
    const noJson = await asked('application/json;q=0, text/html;q=0.1')
    expect(noJson.headers['content-type']).toBe('text/html; charset=utf-8')
  })

  test('runs no script and has the one style that its policy names', async () => {
    const { text, headers } = await get('/errors')
    const style = /<style>(.*?)<\/style>/s.exec(text)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(headers['content-security-policy']).toContain(`style-src 'sha256-${hash}'`)
    expect(text).not.toMatch(/<script|style=/)
    expect(text).toContain('prefers-color-scheme: dark')
  })
})
