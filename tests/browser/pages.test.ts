import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scaled } from '../support/machine-speed.ts'
import { type BrowserLab, kim, signInByCompany, signInByMock, startBrowserLab, status } from './browser-lab.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let lab: BrowserLab
let welcome: string
beforeAll(async () => {
  lab = await startBrowserLab()
  welcome = (await lab.hub.modules.tenants.administration.welcomeLink('globex')).welcome.url
})
afterAll(() => lab.close())

const open = (path: string) => (page: Page) => page.goto(lab.address(path))

/** Every page of the Hub in every state, in this order in one browser, and how it gets there. */
const pages: Record<string, (page: Page) => Promise<unknown>> = {
  'the session, signed out': async (page) => {
    await open('/session')(page)
    await status(page, 'You are not signed in.')
  },
  'signing in': open('/sign-in'),
  'signing in, refused': async (page) => {
    await open('/sign-in?tenant=nowhere')(page)
    await page.click('#company')
    await page.locator('#company-result', { hasText: 'tenant' }).waitFor()
  },
  'a welcome link': (page) => page.goto(welcome),
  'a link that does not open': open('/sign-in/link/acme/nothing'),
  'a callback without a login': open('/api/v1/auth/callback?state=none'),
  'a login that is cancelled': async (page) => {
    await open('/sign-in?tenant=acme')(page)
    await page.click('#company')
    await page.click('#cancel')
    await page.waitForURL(`${lab.hub.baseUrl}/**`)
  },
  errors: open('/errors'),
  'an error': open('/errors/validation-failed'),
  'the session': async (page) => {
    await signInByCompany(page, lab, kim.sub)
    await status(page, 'You are signed in.')
  },
  'the session of an administrator': async (page) => {
    await signInByMock(page, lab, 'admin@acme.example')
  },
}

describe.each([
  { colorScheme: 'light', width: 390 },
  { colorScheme: 'dark', width: 1280 },
] as const)('in $colorScheme, $width pixels wide', ({ colorScheme, width }) => {
  test('every page can be used by everyone, and needs no scrolling to the side', async () => {
    const context = await lab.profile({ colorScheme, viewport: { width, height: 800 } })
    const page = await context.newPage()
    for (const [name, go] of Object.entries(pages)) {
      await go(page)
      await page.evaluate(axe)
      const { violations, passes } = (await page.evaluate('axe.run()')) as AxeResults
      const found = violations.map(({ id, nodes }) => [id, nodes.map((node) => node.failureSummary)])
      expect([name, found]).toEqual([name, []])
      // So that a run that looked at nothing is none.
      expect(
        passes.map(({ id }) => id),
        name,
      ).toContain('color-contrast')
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      expect([name, overflow]).toEqual([name, 0])
    }
    await context.close()
    expect(lab.complaints).toEqual([])
  })
})

test('the reference works under its policy: it lists the operations, opens one and calls it', async () => {
  const context = await lab.profile()
  const page = await context.newPage()
  await open('/reference')(page)
  // Expanding an operation renders for long on a busy machine.
  await page.click('#operations-Service-getHealth', { timeout: scaled(60_000) })
  await page.click('text="Try it out"')
  await page.click('text="Execute"')
  await page.locator('.live-responses-table', { hasText: '"status": "ok"' }).waitFor()
  await context.close()
  expect(lab.complaints).toEqual([])
})

test('a page that breaks its policy would be noticed here', async () => {
  const context = await lab.profile()
  const page = await context.newPage()
  await open('/errors')(page)
  await page.evaluate(`document.body.setAttribute('style', 'color: red')`)
  await page.evaluate(`document.body.innerHTML = '<b></b>'`).catch(() => {})
  await page.evaluate(`document.body.append(Object.assign(document.createElement('img'), { src: '/favicon.ico' }))`)
  await expect.poll(() => lab.complaints.length).toBe(3)
  expect(lab.complaints.splice(0).toString()).toMatch(/inline style.*TrustedHTML.*the image/s)
  await context.close()
})
