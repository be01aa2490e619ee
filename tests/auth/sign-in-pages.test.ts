import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PageScript } from '../../server/http/page.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  const own = { slug: 'customer', mode: 'C' as const, adminEmail: 'a@c.example', baseUrl: 'http://c.localhost' }
  await hub.modules.tenants.administration.create(own, { operator: 'test' })
})
afterAll(() => hub.stop())

const get = (path: string, headers: Record<string, string> = {}) =>
  hub.call('acme', 'GET', path, { token: null, headers: { 'x-service-tenant': undefined, ...headers } })

const hashOf = (text = '') => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

describe.each(['/sign-in', '/session', '/sign-in?tenant=acme'])('%s', (path) => {
  test('loads nothing, runs its one script and no other, and sends to its own host only', async () => {
    const { status, text, headers } = await get(path)
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    const script = /<script>([\s\S]*?)<\/script>/.exec(text)?.[1]
    const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1]
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; connect-src 'self'; ` +
        `base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
    )
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'strict-origin' })
    expect(headers['set-cookie']).toBeUndefined()
    const markup = text.replace(script ?? '', '').replace(style ?? '', '')
    expect(markup.match(/<script|<style/g)).toHaveLength(2)
    expect(markup).not.toMatch(/\son\w+=|\sstyle=|javascript:|\ssrc=|https?:/)
    // Names of tenants, and nothing else, are kept: see tests/browser/sign-in.test.ts. Signing out removes the UI's token.
    expect(script?.replaceAll(/localStorage\.(\wetItem\(knownTenants\b|removeItem\('hub-token'\))/g, '')).not.toMatch(
      /localStorage|sessionStorage|indexedDB|innerHTML|eval\(/,
    )
  })

  test('can be used without seeing it: language, title, labels, places where results are told', async () => {
    const { text } = await get(path)
    expect(text).toMatch(/<html lang="en">/)
    expect(text).toMatch(/<title>[^<]+<\/title>/)
    expect(text.match(/<h1>/g)).toHaveLength(1)
    expect(text).toMatch(/<meta name="viewport" content="width=device-width, initial-scale=1">/)
    expect(text).toContain('prefers-color-scheme: dark')
    expect(text).toContain('role="status"')
    const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const [, id] of text.matchAll(/<input id="([^"]+)"/g)) expect(text).toContain(`<label for="${id}">`)
  })
})

describe('the tenant on /sign-in', () => {
  const field = async (path: string, headers?: Record<string, string>) =>
    /<input id="tenant"[^>]*>/.exec((await get(path, headers)).text)?.[0]

  test('is what the address names, if it can be one', async () => {
    expect(await field('/sign-in')).toContain('value=""')
    expect(await field('/sign-in?tenant=acme')).toContain('value="acme"')
    expect(await field('/sign-in?tenant=acme')).not.toContain('readonly')
    for (const wrong of ['%22%3E%3Cscript%3E', 'ACME', 'a&tenant=b', '%ff', ''])
      expect(await field(`/sign-in?tenant=${wrong}`)).toContain('value=""')
  })

  test('is that of the host, where a tenant has its own, whatever else is asked for', async () => {
    const shown = await field('/sign-in?tenant=acme', { host: 'c.localhost' })
    expect(shown).toContain('value="customer"')
    expect(shown).toContain('readonly')
  })
})

test('names that tests and scripts go by stay', async () => {
  const { text: signIn } = await get('/sign-in')
  for (const id of ['tenant', 'company', 'link-email', 'send-link', 'link-result', 'mock-email', 'mock-sign-in'])
    expect(signIn).toContain(`id="${id}"`)
  const { text: session } = await get('/session')
  for (const id of ['status', 'who', 'tenant', 'role', 'scopes', 'session-until', 'refresh', 'sign-out'])
    expect(session).toContain(`id="${id}"`)
})

test('a script that would end its element, or open a comment, is none', () => {
  for (const source of ['"</script>"', '"</SCRIPT "', '"<!--"']) expect(() => new PageScript(source)).toThrow(/markup/)
})
