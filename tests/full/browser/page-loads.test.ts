import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { rateLimits } from '../../../contract/limits.ts'
import { startUiLab, type UiLab } from '../../browser/ui-lab.ts'

let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 20 })
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

test('a hundred pages in several tabs stay within the ten calls a minute of the class Auth, and ask for nothing but tokens', async () => {
  const context = await lab.profileOf('analyst')
  const auth: string[] = []
  const limited: string[] = []
  context.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (pathname.startsWith('/api/v1/auth/')) auth.push(pathname)
    if (response.status() === 429) limited.push(pathname)
  })
  const tabs = await Promise.all(Array.from({ length: 4 }, () => context.newPage()))
  const paths = ['/', '/records', '/exports', '/settings/nowhere', '/settings/nowhere']
  for (let round = 0; round < 25; round += 1) {
    const address = lab.address(paths[round % paths.length] as string)
    await Promise.all(
      tabs.map(async (tab) => {
        await (tab.url() === address ? tab.reload() : tab.goto(address))
        await tab.locator('h1').first().waitFor()
      }),
    )
  }
  expect(limited).toEqual([])
  expect([...new Set(auth)]).toEqual(['/api/v1/auth/token'])
  expect(auth.length).toBeLessThanOrEqual(rateLimits.auth.perToken)
})

test('a page that a link of another site opened has no cookie of its own, and shares the token nevertheless', async () => {
  const context = await lab.profileOf('analyst')
  const asked: string[] = []
  context.on('request', (request) => {
    if (request.url().endsWith('/api/v1/auth/token')) asked.push(request.url())
  })
  for (let opened = 0; opened < 3; opened += 1) {
    const page = await context.newPage()
    await page.setContent(`<a href="${lab.address('/exports')}">The Hub</a>`)
    await page.getByRole('link').click()
    await page.getByRole('heading', { name: 'Exports', level: 1 }).waitFor()
    await expect.poll(() => page.evaluate(`localStorage.getItem('hub-token')`)).not.toBeNull()
  }
  expect(asked.length).toBe(1)
})
