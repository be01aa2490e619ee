import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { eventsOf } from './auth-lab.ts'
import { press, sessionCookieOf, whoIsSignedIn } from './link-lab.ts'

let hub: TestHub
let welcomeUrl: string
beforeAll(async () => {
  hub = await startHub()
  welcomeUrl = (await hub.modules.tenants.administration.welcomeLink('acme')).welcome.url
})
afterAll(() => hub.stop())

test('the link opens a page that names the tenant and the next commands, as often as it is looked at', async () => {
  for (let i = 0; i < 2; i += 1) {
    const response = await fetch(welcomeUrl)
    const page = await response.text()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('referrer-policy')).toBe('strict-origin')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(response.headers.get('content-security-policy')).toContain("form-action 'self'")
    expect(page).toContain('Welcome to acme')
    expect(page).toContain('<strong>admin@acme.example</strong>')
    expect(page.match(/<form[^>]*>/g)).toEqual(['<form method="post">'])
    expect(page).toContain('service-account create --tenant acme')
    expect(page).toContain(`${hub.baseUrl}/api/v1/oauth/token`)
    expect(page).toContain('npm run hub -- demo --tenant acme')
    expect(page).toMatch(/valid until \d{4}-\d\d-\d\d \d\d:\d\d UTC/)
  }
})

test('the demo is not offered to a tenant whose content stays elsewhere', async () => {
  const link = await hub.modules.tenants.administration.welcomeLink('cmode')
  const page = await (await fetch(link.welcome.url)).text()
  expect(page).toContain('Welcome to cmode')
  expect(page).not.toContain('demo')
})

test('a link that is unknown, altered, another tenant’s or expired does not open, and tells no more', async () => {
  const token = welcomeUrl.split('/').at(-1) ?? ''
  const other = (await hub.modules.tenants.administration.welcomeLink('globex')).welcome.url
  const superuser = await hub.superuserClient()
  await superuser.query(`update hub.magic_links set expires_at = now() where tenant_id = 'globex'`)
  await hub.test.proveRows()
  const urls = [
    `${hub.baseUrl}/welcome/nowhere/${token}`,
    `${hub.baseUrl}/welcome/globex/${token}`,
    `${hub.baseUrl}/welcome/acme/${'A'.repeat(43)}`,
    `${hub.baseUrl}/welcome/acme/x`,
    `${hub.baseUrl}/welcome/acme/${token}A`,
    `${hub.baseUrl}/welcome/%3Cscript%3E/${token}`,
    other,
  ]
  const pages = new Set<string>()
  for (const url of urls) {
    for (const response of [await fetch(url), await press(url)]) {
      expect([url, response.status]).toEqual([url, 404])
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(response.headers.getSetCookie()).toEqual([])
      pages.add(await response.text())
    }
  }
  expect(pages.size).toBe(1)
  expect([...pages][0]).toContain('This link does not open')
})

describe('its button', () => {
  test('makes the administrator, signs them in, and works once', async () => {
    const response = await press(welcomeUrl)
    expect([response.status, response.headers.get('location')]).toEqual([303, '/'])
    const [line, ...others] = response.headers.getSetCookie()
    expect(others).toEqual([])
    for (const attribute of ['Path=/', 'HttpOnly', 'Secure', 'SameSite=Strict'])
      expect(line).toContain(`; ${attribute}`)
    expect(Number(/Max-Age=(\d+)/.exec(line ?? '')?.[1])).toBeGreaterThan(8 * 3600 - 60)
    const me = { tenant: 'acme', email: 'admin@acme.example', role: 'admin', session: { method: 'welcome_link' } }
    expect(await whoIsSignedIn(hub, response)).toMatchObject(me)
    const kinds = (await eventsOf(hub.test.database, 'acme')).map(({ event_kind }) => event_kind)
    expect(kinds.filter((kind) => kind === 'auth.login')).toHaveLength(1)
    for (const again of [await press(welcomeUrl), await fetch(welcomeUrl)]) {
      expect([again.status, sessionCookieOf(again)]).toEqual([404, undefined])
    }
  })

  test('of a further link signs the same person in, and makes an administrator of them again', async () => {
    const found = await hub.call('acme', 'GET', '/api/v1/roster/users?email=admin@acme.example')
    const [{ user_id: userId }] = found.body.items
    const other = await hub.call('acme', 'POST', '/api/v1/roster/users', {
      body: { email: 'second@acme.example', role: 'admin' },
    })
    expect(other.status).toBe(201)
    const lowered = await hub.call('acme', 'PUT', `/api/v1/roster/users/${userId}/role`, { body: { role: 'member' } })
    expect(lowered.status).toBe(200)
    const { welcome } = await hub.modules.tenants.administration.welcomeLink('acme')
    expect(await whoIsSignedIn(hub, await press(welcome.url))).toMatchObject({ role: 'admin' })
    const { body } = await hub.call('acme', 'GET', '/api/v1/roster/users?email=admin@acme.example')
    expect(body.items.map((user: { user_id: string }) => user.user_id)).toEqual([userId])
  })

  test('does not bring back an administrator who was deactivated', async () => {
    const { welcome } = await hub.modules.tenants.administration.welcomeLink('acme')
    const { body } = await hub.call('acme', 'GET', '/api/v1/roster/users?email=admin@acme.example')
    await hub.call('acme', 'POST', `/api/v1/roster/users/${body.items[0].user_id}:deactivate`)
    const response = await press(welcome.url)
    expect([response.status, sessionCookieOf(response)]).toEqual([404, undefined])
  })

  test('is for pages of the Hub only, and what a browser shows of a refusal is a page', async () => {
    const { welcome } = await hub.modules.tenants.administration.welcomeLink('globex')
    const refused = await press(welcome.url, { origin: 'https://evil.example', accept: 'text/html' })
    expect([refused.status, refused.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
    expect((await press(welcome.url)).status).toBe(303)
  })
})

test('at a tenant’s own address its links open and sign in, and those of others do not', async () => {
  const own = { slug: 'customer', mode: 'C' as const, adminEmail: 'a@c.example', baseUrl: 'http://c.localhost' }
  const { administration } = hub.modules.tenants
  const mine = (await administration.create(own, { operator: 'test' })).welcome.url
  const theirs = (await administration.welcomeLink('globex')).welcome.url
  expect(mine).toMatch(/^http:\/\/c\.localhost\/welcome\/customer\//)
  const send = (method: string, url: string) =>
    hub.call('cmode', method, new URL(url).pathname, {
      token: null,
      headers: { host: 'c.localhost', origin: 'http://c.localhost', 'x-service-tenant': undefined },
    })
  for (const method of ['GET', 'POST']) expect((await send(method, theirs)).status).toBe(404)
  expect((await send('GET', mine)).status).toBe(200)
  const { status, headers } = await send('POST', mine)
  expect([status, headers.location]).toEqual([303, '/'])
  expect(String(headers['set-cookie'])).toMatch(/^service_session=/)
})

test('the token of a link is never in the log', () => {
  const log = hub.logLines.join('\n')
  expect(log).toContain('/welcome/')
  expect(log).not.toContain(welcomeUrl.split('/').at(-1))
})

test('links are forgotten a week after they expired, of this tenant only', async () => {
  const superuser = await hub.superuserClient()
  const insert = `insert into hub.magic_links (tenant_id, token_hash, email, purpose, created_at, expires_at)
    values ($1, $2, 'a@example.com', 'welcome', now() - interval '10 days', now() - $3::interval)`
  await superuser.query(insert, ['acme', Buffer.from('old'), '8 days'])
  await superuser.query(insert, ['acme', Buffer.from('young'), '6 days'])
  await superuser.query(insert, ['globex', Buffer.from('old'), '8 days'])
  const counts = async () => {
    const { rows } = await superuser.query<{ tenant_id: string; links: number }>(
      `select tenant_id, count(*) as links from hub.magic_links where tenant_id in ('acme', 'globex') group by 1 order by 1`,
    )
    return rows.map((row) => Number(row.links))
  }
  const [acme = 0, globex = 0] = await counts()
  expect(await hub.test.database.withTenant('acme', (tx) => hub.modules.links.deleteExpired(tx))).toBe(false)
  expect(await counts()).toEqual([acme - 1, globex])
})
