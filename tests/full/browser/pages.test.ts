import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Role, roleNames } from '../../../contract/roles.ts'
import { webPages } from '../../../contract/web-paths.ts'
import { barriers, expectNoSidewaysScroll, startUiLab, type UiLab } from '../../browser/ui-lab.ts'
import type { TestTenant } from '../../support/hub.ts'
import { allPages, settled, type UiPage } from './all-pages.ts'

let lab: UiLab
let pages: UiPage[]
beforeAll(async () => {
  lab = await startUiLab()
  pages = await allPages(lab)
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

test('the pages looked at are those that there are', async () => {
  expect(pages.map(({ route }) => route).sort()).toEqual(Object.values(webPages).sort())
})

const sizes = [
  [390, 800],
  [1280, 900],
  [1920, 1080],
] as const

describe.each(sizes)('%i × %i, light and dark', (width, height) => {
  const options = { viewport: { width, height } }
  // The others see parts of what administrators do: on a phone, and on a desk.
  test.each(width < 1920 ? roleNames : (['admin'] as const))(
    'everyone can use each page that is open to: %s',
    async (role) => {
      const context = await lab.profileOf(role, options)
      await lookAtAll(context, role)
    },
  )
  test('and what a tenant sees that has nothing yet', async () => {
    const context = await lab.profileOf('admin', { ...options, tenant: 'globex' as TestTenant })
    await lookAtAll(context, 'admin', (page) => !page.route.includes('$'))
  })
})

/** What moved without anybody's doing is kept by the page itself: how much of the window, and what. */
const watchShifts = `
  window.shifts = []
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue
      window.shifts.push({ value, moved: sources.map(({ node }) => (node?.outerHTML ?? node?.data ?? '').slice(0, 120)) })
    }
  }).observe({ type: 'layout-shift', buffered: true })`
/** What the Web Vitals call good. */
const shiftsMax = 0.1

async function lookAtAll(context: BrowserContext, role: Role, isMeant: (page: UiPage) => boolean = () => true) {
  await context.addInitScript(watchShifts)
  const page = await context.newPage()
  const faults: string[] = []
  for (const { route, path } of pages.filter((each) => each.roles.includes(role) && isMeant(each))) {
    try {
      await page.goto(lab.address(path))
      await settled(page)
      faults.push(...(await barriers(page)).map((barrier) => `${route}: ${barrier}`))
      await expectNoSidewaysScroll(page, route)
      // The scheme changes colors only, some of them by a transition.
      await page.emulateMedia({ colorScheme: 'dark' })
      await expect.poll(() => barriers(page, 'color-contrast'), { message: 'in dark' }).toEqual([])
      await page.emulateMedia({ colorScheme: 'light' })
    } catch (error) {
      faults.push(`${route}: ${(error as Error).message}`)
    }
    const shifts = (await page.evaluate('window.shifts')) as { value: number; moved: string[] }[]
    if (shifts.reduce((sum, { value }) => sum + value, 0) > shiftsMax) {
      faults.push(`${route} jumps: ${JSON.stringify(shifts)}`)
    }
    faults.push(...lab.complaints.splice(0))
  }
  expect(faults).toEqual([])
}

/** All that pages read; who is signed in is another matter (shell.test.ts). */
const reads = (url: URL) => url.pathname.startsWith('/api/v1/') && !url.pathname.startsWith('/api/v1/auth/token')

describe('each page says itself that, and why, it cannot show what it should, and goes on afterwards', () => {
  const forEach = async (work: (page: Page, of: UiPage) => Promise<void>) => {
    const context = await lab.profileOf('admin')
    const faults: string[] = []
    for (const each of pages) {
      const page = await context.newPage()
      await work(page, each).catch(({ message }: Error) => faults.push(`${each.route}: ${message}`))
      await page.close()
    }
    expect(faults).toEqual([])
  }

  test('where the Hub fails', () =>
    forEach(async (page, each) => {
      const json = { type: 'about:blank/internal', title: 'Internal error', status: 500, detail: 'It broke (a test).' }
      await page.route(reads, (route) => route.fulfill({ status: 500, headers: { 'retry-after': '0' }, json }))
      await page.goto(lab.address(each.path))
      const broken = page.locator('main').getByText('It broke (a test).')
      await broken.first().waitFor()
      await page.unroute(reads)
      const again = page.locator('main').getByRole('alert').getByRole('button', { name: 'Try again' })
      // A part whose last attempt failed before may say so only while another is mended.
      const mend = async () => {
        if ((await again.count()) > 0) await again.first().click()
        return broken.count()
      }
      await expect.poll(mend).toBe(0)
      await settled(page)
    }))

  test('where a limit is reached', () =>
    forEach(async (page, each) => {
      const json = { type: 'about:blank/rate-limited', title: 'Too many requests', status: 429 }
      await page.route(reads, (route) => route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json }))
      await page.goto(lab.address(each.path))
      await page.locator('main').getByText('Too many requests').first().waitFor()
      await page.unroute(reads)
      await page.locator('main').getByText('Too many requests').first().waitFor({ state: 'detached' })
      await settled(page)
    }))

  test('where the Hub does not answer', () =>
    forEach(async (page, each) => {
      await page.route(reads, (route) => route.abort())
      await page.goto(lab.address(each.path))
      await page
        .locator('main')
        .getByText(/Cannot reach the Hub/)
        .first()
        .waitFor()
      await page.unroute(reads)
      await page
        .locator('main')
        .getByText(/Cannot reach the Hub/)
        .first()
        .waitFor({ state: 'detached' })
      await settled(page)
    }))
})
