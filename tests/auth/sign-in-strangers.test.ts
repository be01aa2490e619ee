import { afterAll, beforeAll, expect, test } from 'vitest'
import { press } from './link-lab.ts'
import { type OidcLab, startOidcLab } from './oidc-lab.ts'

/** Statements that change links. */
const changes: string[] = []
let lab: OidcLab
beforeAll(async () => {
  lab = await startOidcLab({
    hub: {
      settings: { HUB_TRUSTED_PROXIES: '127.0.0.0/8' },
      onQuery: (text) => void (/^(update|delete)\b.*magic_links/s.test(text) && changes.push(text)),
    },
  })
  await lab.connect('acme')
})
afterAll(() => lab.close())

const refusals = async () => {
  await lab.hub.modules.denials.settled()
  return lab.events('acme', 'auth.login_failed')
}
const welcomeLink = async () => (await lab.hub.modules.tenants.administration.welcomeLink('acme')).welcome.url

test('a made-up link is told to nobody and changes nothing, however it looks and from however many addresses', async () => {
  changes.length = 0
  for (const token of ['A'.repeat(43), 'B'.repeat(43), 'x', '%00', 'A'.repeat(44)]) {
    for (const [index, path] of ['welcome', 'sign-in/link'].entries()) {
      const url = `${lab.hub.baseUrl}/${path}/acme/${token}`
      expect((await press(url, { 'x-forwarded-for': `192.0.2.${index}` })).status).toBe(404)
    }
  }
  expect(await refusals()).toEqual([])
  expect(changes).toEqual([])
})

test('a link that was there is: used, expired, or opened as one of another kind', async () => {
  const used = await welcomeLink()
  expect((await press(used)).status).toBe(303)
  expect(changes).toHaveLength(1)
  const asAnother = (await welcomeLink()).replace('/welcome/', '/sign-in/link/')
  const expired = await welcomeLink()
  for (const url of [used, asAnother]) expect((await press(url, { 'x-forwarded-for': '192.0.2.7' })).status).toBe(404)
  const superuser = await lab.hub.superuserClient()
  await superuser.query(`update hub.magic_links set expires_at = now() where tenant_id = 'acme'`)
  await lab.hub.test.proveRows()
  expect((await press(expired, { 'x-forwarded-for': '192.0.2.8' })).status).toBe(404)
  const told = (await refusals()).map(({ subject, details }) => [
    subject,
    details.reason,
    details.method,
    details.address,
  ])
  expect(told).toEqual([
    ['tenant:acme', 'link_not_open', 'welcome_link', '192.0.2.7'],
    ['tenant:acme', 'link_not_open', 'welcome_link', '192.0.2.8'],
    // The same subject, reason and address again: added up, whichever page it was.
    ['tenant:acme', 'link_not_open', 'welcome_link', '192.0.2.7'],
  ])
  // None was used up by it.
  expect(changes).toHaveLength(1)
})

test('a login that nobody finished at the provider is told to nobody', async () => {
  const before = await refusals()
  const wrong: Record<string, string>[] = [
    { code: 'made-up' },
    { iss: 'https://evil.example' },
    { state: 'made-up' },
    { error: 'access_denied' },
  ]
  for (const [index, change] of wrong.entries()) {
    const browser = lab.browser()
    const callback = await browser.toCallback('acme', 'kim')
    for (const [name, value] of Object.entries(change)) callback.searchParams.set(name, value)
    const answer = await browser.go(callback, { 'x-forwarded-for': `198.51.100.${index}` })
    expect([change, answer.status]).toEqual([change, 400])
  }
  expect(await refusals()).toEqual(before)
})

test('links that do not open are counted by who looks, and one that opens does so all the same', async () => {
  const limited = await startOidcLab({ hub: { limitFactor: 1 } })
  try {
    const { url } = (await limited.hub.modules.tenants.administration.welcomeLink('acme')).welcome
    const statuses: number[] = []
    for (let i = 0; i < 12; i += 1) {
      const made = `${limited.hub.baseUrl}/sign-in/link/${i % 2 ? 'acme' : 'nowhere'}/${'A'.repeat(43)}`
      statuses.push((await fetch(made, { method: i < 10 ? 'GET' : 'POST' })).status)
    }
    expect(statuses).toEqual([...Array(10).fill(404), 429, 429])
    const refused = await fetch(`${limited.hub.baseUrl}/welcome/acme/x`, { headers: { accept: 'text/html' } })
    expect([refused.status, refused.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    for (let i = 0; i < 3; i += 1) expect((await fetch(url)).status).toBe(200)
    expect((await press(url)).status).toBe(303)
  } finally {
    await limited.close()
  }
})
