import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type BrowserLab, startBrowserLab } from './browser-lab.ts'
import { expectAccessible, expectNoSidewaysScroll } from './ui-lab.ts'

let lab: BrowserLab
beforeAll(async () => {
  lab = await startBrowserLab()
})
afterAll(() => lab.close())

const requested: string[] = []
beforeEach(() => {
  requested.length = 0
  return () => {
    expect(lab.complaints).toEqual([])
    expect(requested.filter((url) => !url.startsWith(lab.address('/')))).toEqual([])
  }
})

async function open(path: string, options: Parameters<BrowserLab['profile']>[0] = {}): Promise<Page> {
  const context: BrowserContext = await lab.profile({ reducedMotion: 'reduce', ...options })
  context.on('request', (request) => requested.push(request.url()))
  const page = await context.newPage()
  await page.goto(lab.address(path))
  await page.locator('.VPContent h1').waitFor()
  return page
}

test('a search finds a page by its usual word, and opens it', async () => {
  const page = await open('/docs')
  expect(page.url()).toBe(lab.address('/docs/'))
  await page.getByRole('button', { name: 'Search' }).first().click()
  await page.locator('#localsearch-input').fill('budget')
  const results = page.locator('.VPLocalSearchBox .result')
  await expect.poll(() => results.count()).toBeGreaterThan(0)
  // The pages of the API are found, too.
  await page.locator('.VPLocalSearchBox a.result[href*="/docs/budgets"]').first().click()
  await page.waitForURL(/\/docs\/budgets(#.*)?$/)
  await page.locator('h1', { hasText: 'Budgets' }).waitFor()
  await page.context().close()
})

test.each(['light', 'dark'] as const)('everyone can read the pages in %s', async (colorScheme) => {
  const page = await open('/docs/', { colorScheme })
  expect(await page.evaluate('document.documentElement.classList.contains("dark")')).toBe(colorScheme === 'dark')
  for (const path of ['/docs/', '/docs/operator', '/docs/start/developer', '/docs/adr/']) {
    await page.goto(lab.address(path))
    await page.locator('.VPContent h1').waitFor()
    await expectAccessible(page)
  }
  await page.context().close()
})

test('nothing is wider than a phone, and its menu leads to another page', async () => {
  const page = await open('/docs/operator', { viewport: { width: 390, height: 844 } })
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Menu', exact: true }).click()
  await page.getByRole('link', { name: 'Glossary', exact: true }).click()
  await page.waitForURL(lab.address('/docs/glossary'))
  await page.locator('h1', { hasText: 'Glossary' }).waitFor()
  await expectNoSidewaysScroll(page)
  await page.context().close()
})

test('links between pages and to decision records work, a source is no link, and a diagram is a picture', async () => {
  const page = await open('/docs/security')
  await page.locator('.vp-doc a[href="/docs/adr/0057-row-proofs"]').first().click()
  await page.waitForURL(lab.address('/docs/adr/0057-row-proofs'))
  await page.goto(lab.address('/docs/code-map'))
  const source = page.locator('.vp-doc a[title="server/config.ts"]').first()
  expect([await source.textContent(), await source.getAttribute('href')]).toEqual(['server/config.ts', null])
  const width = () => page.evaluate('document.querySelector(".vp-doc img")?.naturalWidth')
  await expect.poll(width).toBe(760)
  await page.context().close()
})
