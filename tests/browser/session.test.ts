import type { BrowserContext, Page, Response } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BrowserLab, press, signInByCompany, signInByMock, startBrowserLab, status } from './browser-lab.ts'

let lab: BrowserLab
beforeAll(async () => {
  lab = await startBrowserLab()
})
afterAll(() => lab.close())

let context: BrowserContext
beforeEach(async () => {
  context = await lab.profile()
  return async () => {
    await context.close()
    expect(lab.complaints).toEqual([])
    expect(await lab.events('acme', 'auth.refresh_reuse_detected')).toEqual([])
  }
})

const lee = 'lee@acme.example'

async function openSession(): Promise<Page> {
  const page = await context.newPage()
  await page.goto(lab.address('/session'))
  await status(page, 'You are signed in.')
  return page
}

/** Nothing of the person is on the page. */
async function showsNobody(page: Page): Promise<void> {
  expect(await page.locator('#signed-in').isVisible()).toBe(false)
  expect(await page.locator('body').textContent()).not.toContain('acme')
}

describe('two tabs', () => {
  test('refresh at once, many times: both go on, and nothing is taken for theft', async () => {
    const first = await context.newPage()
    await signInByCompany(first, lab)
    await status(first, 'You are signed in.')
    const second = await openSession()
    const answers: Response[] = []
    for (const page of [first, second]) page.on('response', (response) => answers.push(response))
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([press(first, 'refresh'), press(second, 'refresh')])
      for (const page of [first, second]) await status(page, 'The access token was refreshed.')
    }
    expect(answers.map((answer) => [new URL(answer.url()).pathname, answer.status()])).toEqual(
      Array(20).fill(['/api/v1/auth/token', 200]),
    )
  })

  test('with one refresh token between them, as after duplicating a tab, get one successor', async () => {
    const first = await context.newPage()
    await signInByMock(first, lab, lee)
    const second = await openSession()
    const ask = (page: Page, body?: object): Promise<{ access_token: string; refresh_token: string }> =>
      page.evaluate(`fetch('/api/v1/auth/token', {
        method: 'POST',
        headers: ${JSON.stringify(body ? { 'content-type': 'application/json' } : {})},
        body: ${JSON.stringify(body && JSON.stringify(body)) ?? 'undefined'},
      }).then((answer) => answer.json())`)
    let { refresh_token: token } = await ask(first)
    for (let round = 0; round < 5; round += 1) {
      const tabs = [first, second, first, second, first, second, first, second]
      const body = { grant_type: 'refresh_token', refresh_token: token }
      const successors = new Set((await Promise.all(tabs.map((tab) => ask(tab, body)))).map((one) => one.refresh_token))
      expect(successors.size).toBe(1)
      const [successor = ''] = successors
      expect([typeof successor, successor]).not.toEqual(['string', token])
      token = successor
    }
  })

  test('are both signed out by one', async () => {
    const first = await context.newPage()
    await signInByMock(first, lab, lee)
    const second = await openSession()
    await press(first, 'sign-out')
    await status(first, 'You are signed out.')
    await showsNobody(first)
    expect(await context.cookies(lab.address('/api/v1/auth/token'))).toEqual([])
    await press(second, 'refresh')
    await status(second, 'You are not signed in.')
    await showsNobody(second)
    await second.click('#sign-in')
    await second.waitForURL(lab.address('/sign-in'))
  })

  test('show who is signed in now, when somebody else is', async () => {
    const first = await context.newPage()
    await signInByMock(first, lab, lee)
    await signInByMock(await context.newPage(), lab, 'ada@acme.example')
    await press(first, 'refresh')
    expect(await first.textContent('#who')).toBe('ada@acme.example')
  })
})

describe('the back button', () => {
  test('shows the session to those who are still signed in only', async () => {
    const page = await context.newPage()
    await signInByMock(page, lab, lee)
    const other = await openSession()
    const leave = () => page.goto(lab.address('/errors'))
    const comeBack = async () => {
      await page.goBack({ waitUntil: 'commit' })
      await page.waitForURL(lab.address('/session'))
    }
    await leave()
    await comeBack()
    await status(page, 'You are signed in.')
    expect(await page.textContent('#who')).toBe(lee)
    await leave()
    await press(other, 'sign-out')
    await comeBack()
    await status(page, 'You are not signed in.')
    await showsNobody(page)
  })

  // Playwright’s browser keeps no page that was left, so the page is told what the browsers of people tell it.
  test('finds nothing of the person on a page that was kept as it was left, until the Hub says who it is', async () => {
    const page = await context.newPage()
    await signInByMock(page, lab, lee)
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))`)
    await showsNobody(page)
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`)
    await status(page, 'You are signed in.')
    expect(await page.textContent('#who')).toBe(lee)
  })
})

test('signing out everywhere ends the sessions of other browsers, and of nobody else', async () => {
  const elsewhere = await lab.profile()
  const [here, there, ada] = [await context.newPage(), await elsewhere.newPage(), await (await lab.profile()).newPage()]
  await signInByMock(here, lab, lee)
  await signInByMock(there, lab, lee)
  await signInByMock(ada, lab, 'ada@acme.example')
  await press(here, 'sign-out-everywhere')
  await status(here, 'You are signed out everywhere.')
  await press(there, 'refresh')
  await status(there, 'You are not signed in.')
  await showsNobody(there)
  expect(await elsewhere.cookies(lab.address('/api/v1/auth/token'))).toEqual([])
  await press(ada, 'refresh')
  await status(ada, 'The access token was refreshed.')
  await elsewhere.close()
  await ada.context().close()
})

test('signing out works after the access token has expired', async () => {
  const page = await context.newPage()
  await signInByMock(page, lab, lee)
  // Whatever access token the page sends is one that is no longer good.
  await page.route('**/api/v1/auth/**', (route) => {
    const { authorization, ...headers } = route.request().headers()
    return route.continue({ headers: { ...headers, ...(authorization && { authorization: 'Bearer expired' }) } })
  })
  const [session] = (await context.cookies()).filter(({ name }) => name === 'service_session')
  const goOn = async () => {
    const headers = { cookie: `service_session=${session?.value}` }
    return (await fetch(lab.address('/api/v1/auth/token'), { method: 'POST', headers })).status
  }
  expect(await goOn()).toBe(200)
  await press(page, 'sign-out')
  await status(page, 'You are signed out.')
  expect(await goOn()).toBe(401)
  await page.reload()
  await status(page, 'You are not signed in.')
})

test('a refresh whose answer is lost does not end the session', async () => {
  const page = await context.newPage()
  await signInByMock(page, lab, lee)
  let lost = 0
  await page.route('**/api/v1/auth/token', async (route) => {
    await route.fetch()
    lost += 1
    await route.abort()
  })
  await press(page, 'refresh')
  await status(page, 'Cannot reach the Hub. Check the connection.')
  expect(lost).toBe(1)
  await page.unroute('**/api/v1/auth/token')
  await press(page, 'refresh')
  await status(page, 'The access token was refreshed.')
})
