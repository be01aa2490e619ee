import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { patience } from '../support/machine-speed.ts'
import { expectAccessible, expectNoSidewaysScroll, startUiLab, type UiLab } from './ui-lab.ts'
import { roleEmails } from './ui-world.ts'

let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 100 })
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

const tokenPath = '**/api/v1/auth/token'
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

/** Calls of the operation that gives tokens, as their bodies. */
function tokenCalls(context: BrowserContext): (string | null)[] {
  const calls: (string | null)[] = []
  context.on('request', (request) => {
    if (request.url().endsWith('/api/v1/auth/token')) calls.push(request.postData())
  })
  return calls
}

async function signInByForm(page: Page, email: string): Promise<void> {
  await page.waitForURL(lab.address('/sign-in?**'))
  const tenant = page.locator('#tenant')
  if ((await tenant.inputValue()) === '') await tenant.fill('acme')
  await page.fill('#mock-email', email)
  await page.click('#mock-sign-in')
}

test('a link into the UI survives signing in and reloading', async () => {
  const page = await (await lab.profile()).newPage()
  const link = lab.address('/records?record_type=decision&user_id=user%3Aada.abara%40acme.example')
  await page.goto(link)
  await signInByForm(page, 'analyst@acme.example')
  await heading(page, 'Records').waitFor()
  expect(new URL(page.url()).searchParams.get('record_type')).toBe('decision')
  expect(new URL(page.url()).searchParams.get('user_id')).toBe('user:ada.abara@acme.example')
  await page.reload()
  await heading(page, 'Records').waitFor()
  expect(new URL(page.url()).searchParams.get('record_type')).toBe('decision')
})

test('signing out in one tab signs out the others', async () => {
  const page = await lab.signInAs('analyst')
  const other = await page.context().newPage()
  await other.goto(lab.address('/exports'))
  await heading(other, 'Exports').waitFor()
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await Promise.all([page, other].map((tab) => tab.waitForURL(lab.address('/sign-in?**'))))
  expect(new URL(other.url()).searchParams.get('return_to')).toBe('/exports')
  await other.goto(lab.address('/exports'))
  await other.waitForURL(lab.address('/sign-in?**'))
})

test('reloads and further tabs share one token, until the session ends', async () => {
  const context = await lab.profileOf('analyst')
  const calls = tokenCalls(context)
  const tabs = [await context.newPage(), await context.newPage()]
  const stored = () => tabs[1]!.evaluate(`localStorage.getItem('hub-token')`)
  for (let round = 0; round < 3; round += 1) {
    for (const tab of tabs) {
      await tab.goto(lab.address('/settings/nowhere'))
      await heading(tab, 'Page not found').waitFor()
      if (tab === tabs[1]) await expect.poll(stored, patience).toMatch(/^[0-9a-f]{64,}$/)
    }
  }
  expect(calls.length).toBe(1)
  await tabs[0]!.getByRole('button', { name: 'Your account' }).click()
  await tabs[0]!.getByRole('menuitem', { name: 'Sign out' }).click()
  await Promise.all(tabs.map((tab) => tab.waitForURL(lab.address('/sign-in?**'))))
  expect(await stored()).toBeNull()
  await tabs[1]!.goto(lab.address('/exports'))
  await tabs[1]!.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('a stored token is of no use to the next person, nor to a session that another one replaced', async () => {
  const context = await lab.profileOf('analyst')
  const calls = tokenCalls(context)
  const subjects: unknown[] = []
  context.on('request', (request) => {
    const [, claims] = request.headers().authorization?.split('.') ?? []
    if (claims) subjects.push(JSON.parse(Buffer.from(claims, 'base64url').toString()).sub)
  })
  for (const [round, role] of (['admin', 'analyst', 'analyst'] as const).entries()) {
    const page = await context.newPage()
    await page.goto(lab.address('/records'))
    await heading(page, 'Records').waitFor()
    await expect.poll(() => [calls.length, new Set(subjects).size], patience).toEqual([round + 1, 1])
    await expect.poll(() => page.evaluate(`localStorage.getItem('hub-token')`), patience).not.toBeNull()
    await page.goto('about:blank')
    // Only now: a page that is slow to load asks for more until it is left.
    subjects.length = 0
    const data = { email: roleEmails[role], tenant: 'acme' }
    expect((await context.request.post(lab.address('/api/v1/auth/mock-login'), { data })).status()).toBe(200)
  }
})

test('a session that was ended elsewhere is forgotten by every tab', async () => {
  const page = await lab.signInAs('analyst', '/records')
  const other = await page.context().newPage()
  await other.goto(lab.address('/exports'))
  await heading(other, 'Exports').waitFor()
  const { sub } = JSON.parse(
    (await page
      .context()
      .request.post(lab.address('/api/v1/auth/token'))
      .then(async (answer) => {
        const [, claims = ''] = (await answer.json()).access_token.split('.')
        return Buffer.from(claims, 'base64url').toString()
      })) as string,
  )
  await lab.hub.call('acme', 'POST', `/api/v1/roster/users/${sub}:deactivate`)
  try {
    for (const tab of [page, other]) {
      await tab.reload()
      await tab.waitForURL(lab.address('/sign-in?**'))
      expect(await tab.evaluate(`localStorage.getItem('hub-token')`)).toBeNull()
    }
  } finally {
    await lab.hub.call('acme', 'POST', `/api/v1/roster/users/${sub}:reactivate`)
  }
})

test('no storage has a token, nor a cookie that scripts can read', async () => {
  const page = await lab.signInAs('admin')
  const kept = await page.evaluate(`Promise.all([
    JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), document.cookie,
    indexedDB.databases().then((all) => JSON.stringify(all)), caches.keys().then((keys) => keys.join()),
    navigator.serviceWorker.getRegistrations().then((all) => all.length),
  ])`)
  // A JWT begins with {"
  const noToken = expect.not.stringContaining('eyJ')
  expect(kept).toEqual([noToken, noToken, '', '[]', '', 0])
})

test('an access token is renewed before it ends, by one tab for all', async () => {
  const context = await lab.profileOf('analyst')
  const calls = tokenCalls(context)
  await context.clock.install()
  const open = async () => {
    const tab = await context.newPage()
    await tab.goto(lab.address('/settings/nowhere'))
    await heading(tab, 'Page not found').waitFor()
    // The next tab finds it only then.
    await expect.poll(() => tab.evaluate(`localStorage.getItem('hub-token')`), patience).not.toBeNull()
    return tab
  }
  const callOfAccount = async (tab: Page) => {
    const answered = tab.waitForResponse('**/api/v1/auth/me')
    await tab.getByRole('button', { name: 'Your account' }).click()
    expect((await answered).status()).toBe(200)
  }
  const first = await open()
  await context.clock.fastForward('04:45')
  await callOfAccount(first)
  const grants = () => calls.map((body) => JSON.parse(body ?? '{}').grant_type)
  expect(grants()).toEqual([undefined, 'refresh_token'])

  const second = await open()
  await context.clock.fastForward('04:45')
  // Either tab may be the first that renews, by its refresh token or by the cookie of the session.
  await callOfAccount(second)
  const answered = first.waitForResponse('**/api/v1/hub/exports?**')
  await first.keyboard.press('Escape')
  await first.getByRole('link', { name: 'Exports' }).click()
  expect((await answered).status()).toBe(200)
  expect(grants()).toHaveLength(3)
})

test('Ctrl-K finds pages, records and skills, and the keyboard goes there', async () => {
  const page = await lab.signInAs('analyst')
  await page.getByRole('link', { name: 'Exports' }).click()
  const palette = page.getByRole('dialog')
  const searched = async (text: string) => {
    await palette.waitFor({ state: 'detached' })
    // The page that was gone to has the focus once it is there.
    await page.locator('h1:focus').waitFor()
    await page.keyboard.press('Control+k')
    await palette.getByRole('combobox').fill(text)
  }
  await searched('checkpoint')
  await palette.getByRole('option', { name: 'Log', selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(lab.address('/governance/log'))
  await searched(lab.world.records.decision)
  await palette.getByRole('option', { name: `Open record ${lab.world.records.decision}`, selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(lab.address(`/records/${lab.world.records.decision}`))
  await searched('eng.code-review')
  await page.getByText('Usage of the skill eng.code-review').click()
  await page.waitForURL(lab.address('/usage/skills/eng.code-review'))

  // A record by its words; the pages that were opened are offered again, and none of another person.
  await searched('reply')
  await palette.getByRole('group', { name: 'Search results' }).locator('mark').first().waitFor()
  await expectAccessible(page, 'the palette with results')
  const down = page.getByRole('combobox', { name: 'Search pages and records' })
  const before = await down.getAttribute('aria-activedescendant')
  await page.keyboard.press('ArrowDown')
  expect(await down.getAttribute('aria-activedescendant')).not.toBe(before)
  await down.fill('')
  const recent = palette.getByRole('group', { name: 'Recent pages' }).getByRole('option')
  expect(await recent.allTextContents()).toContain('Log')
  expect(await palette.getByRole('option', { name: 'Invite user' }).count()).toBe(0)
  await palette.getByRole('option', { name: 'New export' }).click()
  await page.getByRole('dialog', { name: 'Create an export' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.goto(lab.address('/records'))
  await page.locator('main tbody tr[data-index]').first().waitFor()
  await page.keyboard.press('Control+k')
  await palette.getByRole('combobox').fill('keyboard')
  const key = palette.getByRole('option', { name: 'Show the keyboard shortcuts' })
  expect(await key.getAttribute('aria-keyshortcuts')).toBe('?')
  await key.click()
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await palette.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await palette.getByRole('combobox').fill('sign out')
  await palette.getByRole('option', { name: 'Sign out', exact: true }).click()
  await page.waitForURL(lab.address('/sign-in**'))
  expect(await page.evaluate("localStorage.getItem('hub-recent-pages')")).toBe(null)
})

test('menus and the palette can be used by everyone, and give the focus back', async () => {
  const page = await lab.signInAs('admin', '/settings/nowhere')
  for (const name of ['Your account', /^Tenant acme/, 'Search']) {
    const opener = page.getByRole('button', { name })
    await opener.focus()
    await page.keyboard.press('Enter')
    const opened = page.getByRole(name === 'Search' ? 'dialog' : 'menu')
    await opened.locator(':focus').waitFor()
    await expectAccessible(page, String(name))
    await page.keyboard.press('Escape')
    await opened.waitFor({ state: 'detached' })
    await opener.and(page.locator(':focus')).waitFor()
  }
})

test('light or dark is what the system says until somebody chooses, and then kept', async () => {
  const page = await lab.signInAs('member', '/', { colorScheme: 'dark' })
  const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme')
  expect(await scheme()).toBe('dark')
  await page.getByRole('button', { name: 'Light colours' }).click()
  expect(await scheme()).toBe('light')
  await page.reload({ waitUntil: 'commit' })
  // Before anything is drawn, so that nothing flashes.
  await page.locator('body').waitFor({ state: 'attached' })
  expect(await scheme()).toBe('light')
  await page.getByRole('button', { name: 'Dark colours' }).waitFor()
})

test('the keyboard reaches everything: skipping, a visible focus, and the new page after a link', async () => {
  const page = await lab.signInAs('analyst')
  const focused = () => page.evaluate('document.activeElement.textContent')
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('Skip to content')
  const skip = await page.getByText('Skip to content').boundingBox()
  expect(skip && skip.x >= 0 && skip.y >= 0 && skip.height > 0).toBe(true)
  await page.keyboard.press('Enter')
  expect(await page.evaluate('document.activeElement.id')).toBe('page')
  const records = page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Records' })
  // Pressing keys is what makes a browser show the focus.
  await page.getByRole('link', { name: 'Sessions' }).focus()
  await page.keyboard.press('Tab')
  await records.and(page.locator(':focus-visible')).waitFor()
  const outline = await page.evaluate('getComputedStyle(document.activeElement).outline')
  expect(outline).not.toMatch(/none|\b0px/)
  await page.keyboard.press('Enter')
  await heading(page, 'Records').and(page.locator(':focus')).waitFor()
  expect(await page.title()).toMatch(/^records /i)
})

test('being offline is said for as long as it lasts', async () => {
  // Nothing of this page is still on its way.
  const page = await lab.signInAs('analyst', '/settings/nowhere')
  await page.context().setOffline(true)
  await page.getByText('You are offline').first().waitFor()
  await page.context().setOffline(false)
  await page.getByText('You are offline').first().waitFor({ state: 'detached' })
})

test('a limit that is reached is waited for', async () => {
  const context = await lab.profileOf('analyst')
  let calls = 0
  await context.route(tokenPath, (route) => {
    calls += 1
    if (calls > 1) return route.continue()
    return route.fulfill({
      status: 429,
      headers: { 'retry-after': '1' },
      json: { title: 'Too many requests', status: 429 },
    })
  })
  const page = await context.newPage()
  await page.goto(lab.address('/records'))
  await page.getByText('This one goes on by itself in a second.').waitFor()
  await heading(page, 'Records').waitFor()
  expect(calls).toBe(2)
})

test('a Hub that is away is said, with what to do, and trying again leads on', async () => {
  const context = await lab.profileOf('analyst')
  const json = { title: 'Hub unavailable', status: 503, detail: 'The database does not answer.' }
  await context.route(tokenPath, (route) => route.fulfill({ status: 503, headers: { 'retry-after': '0' }, json }))
  const page = await context.newPage()
  await page.goto(lab.address('/records'))
  await page.getByText('You could not be signed in').waitFor()
  await page.getByText('The database does not answer.').waitFor()
  await context.unroute(tokenPath)
  await page.getByRole('button', { name: 'Try again' }).click()
  await heading(page, 'Records').waitFor()
})

test('an address that leads nowhere says so, and leads back', async () => {
  const page = await lab.signInAs('member', '/settings/nowhere')
  await heading(page, 'Page not found').waitFor()
  await page.getByRole('link', { name: 'To the overview' }).click()
  await page.waitForURL(lab.address('/'))
})

test('a mistyped address says so, with the sections for people who are signed in, and to others without asking them to sign in', async () => {
  const path = '/settings/xyz'
  const page = await lab.signInAs('member', '/')
  expect((await page.goto(lab.address(path)))?.status()).toBe(404)
  await heading(page, 'Page not found').waitFor()
  await page.getByRole('navigation', { name: 'Sections' }).waitFor()
  const stranger = await (await lab.profile()).newPage()
  const calls = tokenCalls(stranger.context())
  expect((await stranger.goto(lab.address(path)))?.status()).toBe(404)
  await heading(stranger, 'Page not found').waitFor()
  await expectAccessible(stranger)
  expect([calls, stranger.url()]).toEqual([[], lab.address(path)])
  await stranger.getByRole('link', { name: 'To the overview' }).click()
  await stranger.waitForURL(lab.address('/sign-in?**'))
})

test('on a phone the sections are behind a button, and everyone can use them', async () => {
  const page = await lab.signInAs('admin', '/settings/nowhere', { viewport: { width: 390, height: 800 } })
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Open navigation' }).click()
  const exports = page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Exports' })
  await exports.waitFor()
  await expectAccessible(page)
  await exports.focus()
  await page.keyboard.press('Escape')
  await exports.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Open navigation' }).and(page.locator(':focus')).press('Enter')
  await exports.click()
  await heading(page, 'Exports').waitFor()
  await exports.waitFor({ state: 'hidden' })
})

test('parameters of the address that have no effect are named until they are dismissed', async () => {
  const page = await lab.signInAs('admin', '/records?foo=1&skill_id=eng.code-review&success=no')
  const notice = page.getByRole('alert').filter({ hasText: 'Unknown filter in the address: foo' })
  await notice.getByText('success cannot be “no”. Allowed: true, false.').waitFor()
  for (const [width, dark] of [
    [1280, false],
    [390, true],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' })
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
  }
  await notice.getByRole('button', { name: 'Dismiss' }).click()
  await notice.waitFor({ state: 'detached' })
  await expect.poll(() => new URL(page.url()).search, patience).toBe('?skill_id=eng.code-review')
  await page.goto(lab.address('/settings/service-accounts?add=2'))
  await page.getByText('Unusable filter in the address: add').waitFor()
  await page.goto(lab.address('/budgets?period=day'))
  await page.getByText('Unknown filter in the address: period').waitFor()
})
