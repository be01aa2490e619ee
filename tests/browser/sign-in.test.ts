import type { BrowserContext, Cookie, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BrowserLab, kim, press, signInByCompany, signInByMock, startBrowserLab, status } from './browser-lab.ts'

let lab: BrowserLab
beforeAll(async () => {
  lab = await startBrowserLab()
  lab.provider.accounts.set('eve', { sub: 'eve', email: 'eve@elsewhere.example', email_verified: true })
})
afterAll(() => lab.close())

let context: BrowserContext
let page: Page
beforeEach(async () => {
  context = await lab.profile()
  page = await context.newPage()
  return async () => {
    await context.close()
    expect(lab.complaints).toEqual([])
  }
})

/** Cookies of the Hub by name, as the browser keeps them, with what is left of their lives in whole minutes. */
async function cookiesOfHub(): Promise<
  Record<string, Omit<Cookie, 'name' | 'value' | 'expires'> & { minutes: number }>
> {
  const cookies = (await context.cookies()).filter(({ domain }) => domain === new URL(lab.hub.baseUrl).hostname)
  return Object.fromEntries(
    cookies.map(({ name, value, expires, ...attributes }) => {
      expect(value).not.toBe('')
      return [name, { ...attributes, minutes: Math.ceil(expires / 60 - Date.now() / 60_000) }]
    }),
  )
}

const common = { domain: '127.0.0.1', httpOnly: true, secure: true }
const sessionCookies = {
  service_session: { ...common, path: '/', sameSite: 'Strict', minutes: 480 },
  '__Secure-service_refresh': { ...common, path: '/api/v1/auth', sameSite: 'Strict', minutes: 480 },
}
const loginCookie = { '__Host-service_login': { ...common, path: '/', sameSite: 'Lax', minutes: 10 } }

/** Everything that a script of the page can read and that outlives it, or that another script could come by. */
const readable = `(async () => ({
  cookie: document.cookie,
  cookies: (await cookieStore.getAll()).length,
  local: Object.keys(localStorage).filter((key) => key !== 'hub-tenants').length,
  session: Object.keys(sessionStorage).length,
  databases: (await indexedDB.databases()).length,
  caches: (await caches.keys()).length,
  history: history.state,
  tokens: /ey[A-Za-z0-9_-]{20}/.test(document.documentElement.outerHTML.replace(/<script[^]*?<.script>/g, '') + location),
}))()`
const nothing = { cookie: '', cookies: 0, local: 0, session: 0, databases: 0, caches: 0, history: null, tokens: false }

describe('through the identity provider, which is another site', () => {
  test('a person signs in, sees who they are, and no script reads a token', async () => {
    await page.goto(lab.address('/sign-in?tenant=acme&return_to=/session'))
    await page.click('#company')
    await page.waitForURL(`${lab.provider.issuer}/**`)
    expect(await cookiesOfHub()).toEqual(loginCookie)
    await page.fill('#sub', kim.sub)
    await page.click('#sign-in')
    await page.waitForURL(lab.address('/session'))
    await status(page, 'You are signed in.')
    expect(await cookiesOfHub()).toEqual(sessionCookies)

    const shown = Object.fromEntries(
      await Promise.all(
        ['who', 'tenant', 'role', 'scopes'].map(async (id) => [id, await page.textContent(`#${id}`)] as const),
      ),
    )
    expect(shown).toEqual({
      who: 'Kim Novak, kim@acme.example',
      tenant: 'acme',
      role: 'member',
      scopes: 'telemetry:read',
    })
    expect(await page.evaluate(readable)).toEqual(nothing)
    await press(page, 'refresh')
    await status(page, 'The access token was refreshed.')
    expect(await cookiesOfHub()).toEqual(sessionCookies)
    for (const path of ['/session', '/sign-in', '/errors', '/reference', '/api/v1/auth/me', '/api/v1/auth/none']) {
      await page.goto(lab.address(path))
      expect(await page.evaluate(readable), path).toEqual(nothing)
    }
    expect(await lab.events('acme', 'auth.login')).toMatchObject([{ details: { method: 'oidc' } }])
  })

  test('it lands where it was to lead, and nowhere else', async () => {
    const hosts = new Set<string>()
    page.on('request', (request) => hosts.add(new URL(request.url()).host))
    const { host } = new URL(lab.hub.baseUrl)
    const wanted = [
      ['/errors/not-found?x=1#end', '/errors/not-found?x=1#end'],
      ['//evil.localhost/', '/'],
      ['/\\evil.localhost/', '/'],
    ] as const
    for (const [returnTo, path] of wanted) {
      await context.clearCookies()
      await signInByCompany(page, lab, kim.sub, `&return_to=${encodeURIComponent(returnTo)}`)
      // The web UI may go on from there to its own sub-pages.
      expect(page.url().startsWith(lab.address(path)), returnTo).toBe(true)
    }
    expect(hosts).toEqual(new Set([host, new URL(lab.provider.issuer).host]))
  })

  test('who cancels there is told so, and led back', async () => {
    await page.goto(lab.address('/sign-in?tenant=acme'))
    await page.click('#company')
    await page.click('#cancel')
    await page.waitForURL(lab.address('/api/v1/auth/callback?**'))
    expect(await page.textContent('main')).toMatch(/You are not signed in.*You cancelled the sign-in/s)
    expect(await cookiesOfHub()).toEqual({})
    await page.click('text="Sign in"')
    await page.waitForURL(lab.address('/sign-in'))
  })

  test('who may not come in is told why', async () => {
    await signInByCompany(page, lab, 'eve')
    expect(await page.textContent('main')).toMatch(/You are not signed in.*The domain of your e-mail address/s)
    expect(await page.textContent('main')).not.toContain('elsewhere.example')
    expect(await cookiesOfHub()).toEqual({})
  })

  test('a callback that answers no login of this browser signs nobody in', async () => {
    await page.goto(lab.address('/sign-in?tenant=acme'))
    await page.click('#company')
    await page.waitForURL(`${lab.provider.issuer}/**`)
    await page.fill('#sub', kim.sub)
    await context.clearCookies({ name: '__Host-service_login' })
    await page.click('#sign-in')
    await page.waitForURL(lab.address('/api/v1/auth/callback?**'))
    expect(await page.textContent('main')).toMatch(
      /You are not signed in.*not the response to a login of this browser/s,
    )
    expect(await cookiesOfHub()).toEqual({})
    // Nor does it once the login is over: the answer to another browser's login, or the own one again.
    const answer = page.url()
    await context.clearCookies()
    await signInByCompany(page, lab)
    const cookies = await context.cookies()
    await page.goto(answer)
    expect(await page.textContent('main')).toContain('You are not signed in')
    const sessionOf = (all: Cookie[]) => all.find(({ name }) => name === 'service_session')?.value
    expect(sessionOf(await context.cookies())).toBe(sessionOf(cookies))
  })

  test('a tenant that has none is said so on the page itself', async () => {
    await page.goto(lab.address('/sign-in?tenant=globex'))
    await page.click('#company')
    await page.locator('#company-result', { hasText: 'No tenant of this name uses single sign-on' }).waitFor()
    expect(page.url()).toBe(lab.address('/sign-in?tenant=globex'))
  })
})

test('mock sign-in leaves the same two cookies', async () => {
  await signInByMock(page, lab, 'lee@globex.example', 'globex')
  expect(await page.textContent('#who')).toBe('lee@globex.example')
  expect(await cookiesOfHub()).toEqual(sessionCookies)
  expect(await page.evaluate(readable)).toEqual(nothing)
})

test('who comes back finds the tenant filled in, and those used before among the suggestions', async () => {
  const shown = `({
    tenant: document.getElementById('tenant').value,
    suggested: [...document.querySelectorAll('#known-tenants option')].map(({ value }) => value),
  })`
  await page.goto(lab.address('/sign-in'))
  expect(await page.evaluate(shown)).toEqual({ tenant: '', suggested: [] })
  for (const tenant of ['acme', 'globex', 'acme'] as const)
    await signInByMock(page, lab, `kim@${tenant}.example`, tenant)
  await page.goto(lab.address('/sign-in'))
  expect(await page.evaluate(shown)).toEqual({ tenant: 'acme', suggested: ['acme', 'globex'] })
  await page.goto(lab.address('/sign-in?tenant=globex'))
  expect(await page.evaluate(shown)).toMatchObject({ tenant: 'globex' })
  // Names, and nothing of people.
  expect(await page.evaluate('JSON.stringify(localStorage)')).toBe(
    JSON.stringify({ 'hub-tenants': '["acme","globex"]' }),
  )
  // What else may have been put there does not keep anybody out.
  await page.evaluate(`localStorage.setItem('hub-tenants', '{"a":')`)
  await page.goto(lab.address('/sign-in'))
  expect(await page.evaluate(shown)).toEqual({ tenant: '', suggested: [] })
})

test('by keyboard alone, every step has its place, and the place is seen', async () => {
  const { keyboard } = page
  const focused = () => page.locator(':focus')
  const tabTo = async (id: string) => {
    for (
      let i = 0;
      i < 20 &&
      (await focused()
        .getAttribute('id')
        .catch(() => null)) !== id;
      i += 1
    )
      await keyboard.press('Tab')
    expect(await focused().getAttribute('id')).toBe(id)
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
    expect(outline).toBe('solid')
  }
  await page.goto(lab.address('/sign-in?return_to=/session'))
  await keyboard.press('Tab')
  await tabTo('tenant')
  await keyboard.type('acme')
  await tabTo('company')
  await keyboard.press('Enter')
  await page.waitForURL(`${lab.provider.issuer}/**`)
  await page.locator('#sub:focus').waitFor()
  await keyboard.type(kim.sub)
  await keyboard.press('Enter')
  await page.waitForURL(lab.address('/session'))
  await status(page, 'You are signed in.')
  await keyboard.press('Tab')
  await tabTo('refresh')
  await keyboard.press('Enter')
  await status(page, 'The access token was refreshed.')
  await tabTo('refresh')
  await tabTo('sign-out')
  await keyboard.press('Enter')
  await status(page, 'You are signed out.')
  await tabTo('sign-in')
  await keyboard.press('Enter')
  await page.waitForURL(lab.address('/sign-in'))
})
