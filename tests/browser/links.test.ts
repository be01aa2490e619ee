import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { linkOf } from '../auth/link-lab.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { type BrowserLab, landOnSession, signInByMock, startBrowserLab, status } from './browser-lab.ts'

let lab: BrowserLab
let mail: MailServer
beforeAll(async () => {
  mail = await startMailServer()
  lab = await startBrowserLab({ HUB_SMTP_URL: mail.url })
  await lab.add('globex', 'lee@globex.example', 'analyst')
})
afterAll(async () => {
  await lab.close()
  await mail.close()
})

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

async function welcomeLink(): Promise<string> {
  const { welcome } = await lab.hub.modules.tenants.administration.welcomeLink('globex')
  return `${welcome.url}?${landOnSession}`
}

test('a link comes by mail, and its button signs in', async () => {
  await page.goto(lab.address('/sign-in?tenant=globex&return_to=/session'))
  await page.fill('#link-email', 'lee@globex.example')
  await page.click('#send-link')
  await page.locator('#link-result', { hasText: 'a link is on its way' }).waitFor()
  await page.goto(linkOf(await mail.next()))
  expect(await page.textContent('main')).toContain('as lee@globex.example')
  await page.click('#sign-in')
  await page.waitForURL(lab.address('/session'))
  await status(page, 'You are signed in.')
  expect(await page.textContent('#role')).toBe('analyst')
  expect((await context.cookies(lab.address('/'))).map(({ name, sameSite }) => [name, sameSite])).toEqual([
    ['service_session', 'Strict'],
  ])
})

test('the address of a link is told to nobody: not to the Hub’s own pages, not by a button', async () => {
  const referrers: (string | undefined)[] = []
  page.on('request', async (request) => referrers.push((await request.allHeaders()).referer))
  const url = await welcomeLink()
  await page.goto(url)
  await page.click('#sign-in')
  await page.waitForURL(lab.address('/session'))
  await status(page, 'You are signed in.')
  expect(referrers.length).toBeGreaterThan(2)
  for (const referrer of referrers) expect([undefined, lab.address('/')]).toContain(referrer)
  expect(await page.evaluate('document.referrer')).not.toContain('/welcome/')
})

test('a welcome link that was opened twice signs in once, and the other tab says where to go on', async () => {
  const url = await welcomeLink()
  const other = await context.newPage()
  for (const tab of [page, other]) {
    await tab.goto(url)
    expect(await tab.textContent('h1')).toBe('Welcome to globex')
  }
  await page.click('#sign-in')
  await page.waitForURL(lab.address('/session'))
  await status(page, 'You are signed in.')
  expect(await page.textContent('#role')).toBe('admin')

  await other.click('#sign-in')
  await other.getByRole('heading', { name: 'This link does not open' }).waitFor()
  await other.click('text="you may be signed in already"')
  await status(other, 'You are signed in.')
  expect(await other.textContent('#who')).toBe('admin@globex.example')
  // Neither reloading that page nor going back to the link sends the form again with effect.
  await page.goBack()
  expect(await page.textContent('h1')).toBe('This link does not open')
})

test('pressed twice in haste, the button signs in', async () => {
  await page.goto(await welcomeLink())
  await page.dblclick('#sign-in')
  await page.waitForURL(lab.address('/session'))
  await status(page, 'You are signed in.')
})

test('a link replaces whoever was signed in, once its button is pressed', async () => {
  await signInByMock(page, lab, 'ada@globex.example', 'globex')
  await page.goto(await welcomeLink())
  const other = await context.newPage()
  await other.goto(lab.address('/session'))
  await status(other, 'You are signed in.')
  expect(await other.textContent('#who')).toBe('ada@globex.example')
  await page.click('#sign-in')
  await status(page, 'You are signed in.')
  expect(await page.textContent('#who')).toBe('admin@globex.example')
})
