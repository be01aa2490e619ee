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

const phone = { width: 390, height: 800 }
const laptop = { width: 1280, height: 900 }
const wide = { width: 1920, height: 1080 }

describe('everyone can use each page that is open to them, in light and dark', () => {
  test('administrators, on a phone', async () => {
    await lookAtAll(await lab.profileOf('admin', { viewport: phone }), 'admin')
  })
  test('administrators, on a laptop and on a wide screen', async () => {
    await lookAtAll(await lab.profileOf('admin', { viewport: laptop }), 'admin', [wide])
  })
  // They see parts of what administrators do.
  test.each(roleNames.filter((role) => role !== 'admin'))('%s, on a laptop and on a phone', async (role) => {
    await lookAtAll(await lab.profileOf(role, { viewport: laptop }), role, [phone])
  })
  test('administrators of a tenant that has nothing yet, on a phone and on larger screens', async () => {
    const context = await lab.profileOf('admin', { viewport: phone, tenant: 'globex' as TestTenant })
    await lookAtAll(context, 'admin', [laptop, wide], (page) => !page.route.includes('$'))
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

/**
 * Opens each page in the window of the context, in light and dark, and then resizes the window.
 *
 * @param resized sizes in which a page is looked at in light
 */
async function lookAtAll(
  context: BrowserContext,
  role: Role,
  resized: readonly { width: number; height: number }[] = [],
  isMeant: (page: UiPage) => boolean = () => true,
) {
  await context.addInitScript(watchShifts)
  const page = await context.newPage()
  const faults: string[] = []
  const opened = page.viewportSize()!
  for (const { route, path } of pages.filter((each) => each.roles.includes(role) && isMeant(each))) {
    try {
      await page.setViewportSize(opened)
      await page.goto(lab.address(path))
      await settled(page)
      faults.push(...(await barriers(page)).map((barrier) => `${route}: ${barrier}`))
      await expectNoSidewaysScroll(page, route)
      // The scheme changes colors only, some of them by a transition.
      await page.emulateMedia({ colorScheme: 'dark' })
      await expect.poll(() => barriers(page, 'color-contrast'), { message: 'in dark' }).toEqual([])
      await page.emulateMedia({ colorScheme: 'light' })
      const shifts = (await page.evaluate('window.shifts')) as { value: number; moved: string[] }[]
      if (shifts.reduce((sum, { value }) => sum + value, 0) > shiftsMax) {
        faults.push(`${route} jumps: ${JSON.stringify(shifts)}`)
      }
      for (const size of resized) {
        await page.setViewportSize(size)
        await expectNoSidewaysScroll(page, route)
        await expect.poll(() => barriers(page), { message: `${size.width} wide` }).toEqual([])
      }
    } catch (error) {
      faults.push(`${route}: ${(error as Error).message}`)
    }
    faults.push(...lab.complaints.splice(0))
  }
  expect(faults).toEqual([])
}

/** All that pages read; who is signed in is another matter (shell.test.ts). */
const reads = (url: URL) => url.pathname.startsWith('/api/v1/') && !url.pathname.startsWith('/api/v1/auth/token')

describe('each page says itself that, and why, it cannot show what it should, and goes on afterwards', () => {
  const forEach = async (work: (page: Page, of: UiPage) => Promise<void>, chosen = pages) => {
    const context = await lab.profileOf('admin')
    const faults: string[] = []
    for (const each of chosen) {
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

  // The next two are of the calls, which all pages make alike: each is tried with every other page.
  const every = (rest: number) => pages.filter((_, index) => index % 2 === rest)

  test('where a limit is reached', () =>
    forEach(async (page, each) => {
      const json = { type: 'about:blank/rate-limited', title: 'Too many requests', status: 429 }
      await page.route(reads, (route) => route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json }))
      await page.goto(lab.address(each.path))
      await page.locator('main').getByText('Too many requests').first().waitFor()
      await page.unroute(reads)
      await page.locator('main').getByText('Too many requests').first().waitFor({ state: 'detached' })
      await settled(page)
    }, every(0)))

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
    }, every(1)))
})
