import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startUiLab, type UiLab } from '../../browser/ui-lab.ts'
import { scaled } from '../../support/machine-speed.ts'
import { testLength } from '../../support/test-length.ts'
import { allPages, settled, type UiPage, unread } from './all-pages.ts'

// The bounds of time are several times what a quiet machine needs: work that grows with the records exceeds them.
const count = testLength({ short: 150_000, long: 1_000_000 })
const minute = 60_000
/** Rounds for a page that was late in the first one. */
const rounds = 3
const firstDataMsMax = scaled(testLength({ short: 4000, long: 10_000 }))
const taskMsMax = scaled(500)
const scrolls = 60

let lab: UiLab
let pages: UiPage[]
beforeAll(
  async () => {
    lab = await startUiLab({ events: count })
    await lab.hub.modules.rollups.rollups.settle('acme')
    // Nothing vacuums test databases, as PostgreSQL does by itself with others.
    await (await lab.hub.superuserClient()).query('vacuum analyze')
    pages = await allPages(lab)
  },
  scaled(30 * minute),
)
afterAll(() => lab?.stop())

test('each page has its first data soon', async () => {
  const page = await lab.signInAs('admin', nowhere)
  const late: string[] = []
  for (const { route, path } of pages) {
    const take = async () => {
      await page.goto(lab.address(nowhere))
      await page.getByRole('heading', { name: titleOfNowhere }).waitFor()
      return Math.round((await page.evaluate(goAndWait(path))) as number)
    }
    if ((await take()) <= firstDataMsMax) continue
    // The first time brings the page's script, which a browser keeps, and may wait for something else.
    const taken: number[] = []
    for (let round = 0; round < rounds; round++) taken.push(await take())
    const median = taken.toSorted((one, other) => one - other)[Math.floor(rounds / 2)]!
    if (median > firstDataMsMax) late.push(`${route}: ${taken.join(', ')} ms`)
  }
  expect(late).toEqual([])
})

/** A page that reads nothing, so that all another one shows is read anew. */
const nowhere = '/settings/nowhere'
const titleOfNowhere = 'Page not found'

/**
 * Goes to a page as a link does, and answers after how many milliseconds it shows what was read: all of it, or on the
 * command center the first of its figures, which its charts and lists come after.
 */
const goAndWait = (path: string) => `new Promise((resolve) => {
  const began = performance.now()
  const look = () => {
    const title = document.querySelector('h1')?.textContent
    const isRead = document.querySelector('main [data-value]') || !document.querySelector('${unread}')
    const isThere = title && title !== '${titleOfNowhere}' && isRead
    const ms = performance.now() - began
    if (isThere || ms > ${2 * firstDataMsMax}) resolve(ms)
    else requestAnimationFrame(look)
  }
  history.pushState({}, '', '${path}')
  look()
})`

const watchTasks = `
  window.tasks = []
  new PerformanceObserver((list) => {
    for (const { duration, startTime } of list.getEntries()) window.tasks.push({ duration, startTime })
  }).observe({ type: 'longtask' })`

test('scrolling through the records keeps no frame waiting for long', async () => {
  const page = await lab.signInAs('admin', '/records')
  await settled(page)
  const rows = page.locator('main [role="row"], main tr')
  await rows.nth(10).hover()
  await restOf(page)
  await page.evaluate(watchTasks)
  const first = await rows.nth(5).textContent()
  for (let scroll = 0; scroll < scrolls; scroll++) {
    await page.mouse.wheel(0, 400)
    await page.evaluate('new Promise(requestAnimationFrame)')
  }
  expect(await rows.nth(5).textContent()).not.toBe(first)
  const tasks = (await page.evaluate('window.tasks')) as { duration: number }[]
  expect(tasks.filter(({ duration }) => duration > taskMsMax)).toEqual([])
})

/** Once the browser has nothing to do. */
async function restOf(page: Page): Promise<void> {
  await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve))')
}
