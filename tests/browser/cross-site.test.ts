import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BrowserLab, press, signInByMock, startBrowserLab, status } from './browser-lab.ts'
import { type OtherSite, startOtherSite } from './cross-site.ts'

let lab: BrowserLab
let site: OtherSite
beforeAll(async () => {
  ;[lab, site] = await Promise.all([startBrowserLab(), startOtherSite()])
})
afterAll(async () => {
  await site.close()
  await lab.close()
})

let context: BrowserContext
/** Of the person, signed in to the Hub. */
let own: Page
let foreign: Page
beforeEach(async () => {
  context = await lab.profile()
  own = await context.newPage()
  foreign = await context.newPage()
  return () => context.close()
})

const lee = 'lee@acme.example'
const origins = ['same site, other port', 'other site'] as const

/** The person is signed in as before, and so is a page that was open all the time. */
async function stillSignedIn(): Promise<void> {
  await press(own, 'refresh')
  await status(own, 'The access token was refreshed.')
  await own.reload()
  await status(own, 'You are signed in.')
  expect(await own.textContent('#who')).toBe(lee)
}

/** What the Hub answers while this work goes on, but for the page /session itself. */
async function answersDuring(work: () => Promise<unknown>): Promise<string[]> {
  const from = lab.hub.logLines.length
  await work()
  return lab.hub.logLines
    .slice(from)
    .map((line) => JSON.parse(line))
    .filter(({ msg, route }) => msg === 'request' && route !== '/session')
    .map(({ method, route, status: answered, problem }) => `${method} ${route} ${answered} ${problem ?? ''}`)
}

/** A form that sends itself, as a page that wants a person to do something sends it. */
function form(url: string, { enctype = 'application/x-www-form-urlencoded', field = '' } = {}): string {
  return `<form method="post" action="${url}" enctype="${enctype}">${field}</form>
    <script>document.forms[0].submit()</script>`
}

async function linkOfGlobex(): Promise<string> {
  return (await lab.hub.modules.tenants.administration.welcomeLink('globex')).welcome.url
}

describe.each(origins)('a page of another origin (%s)', (kind) => {
  const open = (body: string) => site.open(foreign, site.origins[kind], body)
  const call = (path: string, options: object): Promise<string> =>
    foreign.evaluate(`fetch(${JSON.stringify(lab.address(path))}, ${JSON.stringify(options)})
      .then((answer) => answer.type + ' ' + answer.status, (error) => error.name)`)

  test('neither gets tokens nor signs out, by script or by form', async () => {
    await signInByMock(own, lab, lee)
    for (const path of ['/api/v1/auth/token', '/api/v1/auth/logout']) {
      const answers = await answersDuring(async () => {
        await open('')
        const post = { method: 'POST', credentials: 'include' }
        expect(await call(path, post)).toBe('TypeError')
        expect(await call(path, { ...post, mode: 'no-cors' })).toBe('TypeError')
        await open(form(lab.address(path)))
        await foreign.waitForURL(lab.address(path))
        expect(await foreign.locator('body').textContent()).toContain('cross-site-request')
      })
      expect(answers).toEqual(Array(3).fill(`POST ${path} 403 cross-site-request`))
    }
    await stillSignedIn()
  })

  test('signs nobody in as somebody else', async () => {
    await signInByMock(own, lab, lee)
    // A form that is sent as text can look like JSON.
    const json = {
      enctype: 'text/plain',
      field: `<input name='{"tenant":"acme","email":"eve@acme.example","x":"' value='"}'>`,
    }
    await open(form(lab.address('/api/v1/auth/mock-login'), json))
    await foreign.waitForURL(lab.address('/api/v1/auth/mock-login'))
    expect(await foreign.locator('body').textContent()).toContain('cross-site-request')
    const link = await linkOfGlobex()
    await open(form(link))
    await foreign.waitForURL(link)
    expect(await foreign.textContent('h1')).toBe('Cross-site request')
    await stillSignedIn()
    expect((await fetch(link)).status).toBe(200)
  })

  test('reads what is public, and nothing else', async () => {
    await signInByMock(own, lab, lee)
    await open('')
    for (const path of ['/.well-known/jwks.json', '/.well-known/provenance-keys.json']) {
      expect(await call(path, {})).toBe('cors 200')
      expect(await call(path, { mode: 'no-cors' })).toBe('opaque 0')
    }
    for (const path of ['/api/v1/auth/me', '/v1/health', '/session', '/reference/json']) {
      expect([path, await call(path, { credentials: 'include' })]).toEqual([path, 'TypeError'])
      expect([path, await call(path, { credentials: 'include', mode: 'no-cors' })]).toEqual([path, 'TypeError'])
    }
  })

  test('shows no page of the Hub in a frame, and holds no window of it', async () => {
    await signInByMock(own, lab, lee)
    const pages = ['/session', '/sign-in', '/reference', '/errors', new URL(await linkOfGlobex()).pathname]
    await open(pages.map((path) => `<iframe src="${lab.address(path)}"></iframe>`).join(''))
    const addresses = () =>
      foreign
        .frames()
        .slice(1)
        .map((frame) => frame.url())
    await expect.poll(addresses).toEqual(pages.map(() => 'chrome-error://chromewebdata/'))
    const [popup] = await Promise.all([
      context.waitForEvent('page'),
      foreign.evaluate(`{ globalThis.held = window.open(${JSON.stringify(lab.address('/session'))}) }`),
    ])
    await status(popup, 'You are signed in.')
    expect(await popup.evaluate('window.opener')).toBeNull()
    await expect.poll(() => foreign.evaluate('held.closed')).toBe(true)
  })
})

test('the answer to somebody else’s login, behind a link, signs nobody in', async () => {
  lab.provider.accounts.set('eve', { sub: 'eve', email: 'eve@acme.example', email_verified: true })
  await signInByMock(own, lab, lee)
  const begun = await fetch(lab.address('/api/v1/auth/login?tenant=acme'), { redirect: 'manual' })
  const callback = await lab.provider.signIn(begun.headers.get('location') ?? '', 'eve')
  await site.open(foreign, site.origins['other site'], `<a href="${callback.href.replaceAll('&', '&amp;')}">Look</a>`)
  await foreign.click('a')
  await foreign.waitForURL(lab.address('/api/v1/auth/callback?**'))
  expect(await foreign.textContent('h1')).toBe('You are not signed in')
  await stillSignedIn()
})

test('a login that another site begins waits for the person to go on', async () => {
  const login = lab.address('/api/v1/auth/login?tenant=acme&return_to=/session')
  await site.open(foreign, site.origins['other site'], `<script>location.assign(${JSON.stringify(login)})</script>`)
  await foreign.waitForURL(login)
  expect(await foreign.textContent('h1')).toBe('Sign in to acme?')
  expect(await context.cookies(lab.address('/'))).toEqual([])
  await foreign.click('#go-on')
  await foreign.fill('#sub', 'kim')
  await foreign.click('#sign-in')
  await foreign.waitForURL(lab.address('/session'))
  await status(foreign, 'You are signed in.')
})

test('a link to the page /session from another site finds the session, for its calls come from the Hub', async () => {
  await signInByMock(own, lab, lee)
  await site.open(foreign, site.origins['other site'], `<a href="${lab.address('/session')}">Look</a>`)
  await foreign.click('a')
  await status(foreign, 'You are signed in.')
})
