import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { TestTenant } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'
import { type BrowserLab, signInByMock, startBrowserLab } from './browser-lab.ts'
import { expectAccessible } from './ui-lab.ts'

/** Rows of the bundled trace. */
const traceLength = 19_366

let lab: BrowserLab
beforeAll(async () => {
  lab = await startBrowserLab()
})
afterAll(() => lab?.close())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

async function signIn(email: string, tenant: TestTenant): Promise<Page> {
  const page = await (
    await lab.profile({ locale: 'en-GB', timezoneId: 'Europe/Berlin', reducedMotion: 'reduce' })
  ).newPage()
  await signInByMock(page, lab, email, tenant)
  return page
}

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const article = (page: Page, name: string) => page.getByRole('article', { name, exact: true })
const button = (page: Page) => page.getByRole('button', { name: 'Load demo data' })

test('an administrator loads the demo data, through a failure on the way, and nothing is stored twice', {
  timeout: scaled(300_000),
}, async () => {
  const page = await signIn('admin@globex.example', 'globex')
  let batches = 0
  // From the third batch on the Hub stores what it is sent, and its response does not arrive.
  await page.route('**/api/v1/telemetry/events:batch', async (route) => {
    batches += 1
    if (batches < 3) return route.continue()
    await route.fetch()
    return route.abort()
  })
  await page.goto(lab.address('/'))
  await button(page).waitFor()
  await expectAccessible(page, 'the offer')
  await button(page).click()
  await page.getByRole('progressbar', { name: 'Demo data loaded' }).waitFor()
  await region(page, 'Demo data').getByText('Cannot reach the Hub').waitFor()
  await expectAccessible(page, 'the failure')
  await page.unrouteAll({ behavior: 'wait' })
  await region(page, 'Demo data').getByRole('button', { name: 'Try again' }).click()
  // The whole load: about 40 batches, 120 people and 110 records.
  await page.getByText('The demo data is loaded.').waitFor({ timeout: scaled(120_000) })

  // Nobody has touched a filter: these are 30 days with the whole story.
  expect(new URL(page.url()).search).toBe('')
  await page.getByRole('radio', { name: '30 days', checked: true }).waitFor({ state: 'attached' })
  const count = new Intl.NumberFormat('en-GB').format(traceLength)
  await article(page, 'Invocations').getByText(count, { exact: true }).waitFor()
  await article(page, 'Newly failing')
    .getByText(/Error codes.*: \w+ \(\d+\), \w+ \(\d+\)/)
    .waitFor()
  await article(page, 'Unused skills').getByRole('link').first().waitFor()
  await region(page, 'Cost')
    .getByText(/^Price of .+ changed$/)
    .waitFor()
  await expectAccessible(page, 'the loaded page')
  expect(await stored()).toEqual({ invocations: traceLength, people: 120 })

  await page.goto(lab.address('/onboarding'))
  await page.getByText('4 of 6 checks are met, 2 optional for a trial').waitFor()
})

async function stored(): Promise<{ invocations: number; people: number }> {
  // 30 days of a zone have 30 × 24 hours and one more, where the clock was set back.
  const from = new Date(new Date().setUTCHours(0, 0, 0, 0) - 32 * 86_400_000).toISOString()
  const summary = await lab.hub.call('globex', 'GET', `/api/v1/telemetry/summary?from=${from}`)
  const users = await lab.hub.call('globex', 'GET', '/api/v1/roster/users?limit=1000')
  const people = users.body.items.filter(({ email }: { email: string }) => email.endsWith('@demo.example'))
  return { invocations: summary.body.totals.invocations, people: people.length }
}

test('a member is not offered it, nor is an administrator in Mode C or outside development', async () => {
  const member = await signIn('somebody@acme.example', 'acme')
  await member.goto(lab.address('/'))
  await member.getByRole('heading', { name: 'No telemetry yet' }).waitFor()
  expect(await button(member).count()).toBe(0)

  const modeC = await signIn('admin@cmode.example', 'cmode')
  const details = modeC.waitForResponse(lab.address('/api/v1/tenant'))
  await modeC.goto(lab.address('/'))
  expect(await (await details).json()).toMatchObject({ mode: 'C' })
  await modeC.getByRole('link', { name: 'To the onboarding checklist' }).waitFor()
  await button(modeC).waitFor({ state: 'detached' })

  const page = await signIn('admin@acme.example', 'acme')
  await page.goto(lab.address('/'))
  await button(page).waitFor()
  // The page as staging and production serve it (tests/web/serving.test.ts).
  await page.route(lab.address('/'), async (route) => {
    const response = await route.fetch()
    const body = (await response.text()).replace('<meta name="hub-environment" content="development">', '')
    await route.fulfill({ response, body })
  })
  await page.reload()
  await page.getByRole('link', { name: 'To the onboarding checklist' }).waitFor()
  expect(await button(page).count()).toBe(0)
})
