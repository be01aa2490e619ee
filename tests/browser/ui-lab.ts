import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Role } from '../../contract/roles.ts'
import { launchBrowser } from '../support/browser.ts'
import type { TestHub, TestHubOptions, TestTenant } from '../support/hub.ts'
import { patience } from '../support/machine-speed.ts'
import { roleEmails, startUiWorld, type UiWorld } from './ui-world.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The UI as the set-up of the run built it, served by a hub with a full tenant (acme) and an empty one (globex), and a browser. */
export interface UiLab {
  hub: TestHub
  world: UiWorld
  browser: Browser
  /** Errors of scripts, what libraries warn of, and breaches of the policy, in every page so far. */
  complaints: string[]
  address(path: string): string
  /** A browser profile of its own; nobody is signed in. */
  profile(options?: BrowserContextOptions): Promise<BrowserContext>
  /** A profile with somebody of the role signed in; of globex there is the administrator only. */
  profileOf(role: Role, options?: BrowserContextOptions & { tenant?: TestTenant }): Promise<BrowserContext>
  /** A page of such a profile, at a path of the UI. */
  signInAs(role: Role, path?: string, options?: BrowserContextOptions): Promise<Page>
  stop(): Promise<void>
}

/** @param options.events invocations of the full tenant, 4,000 if absent */
export async function startUiLab(options: TestHubOptions & { events?: number } = {}): Promise<UiLab> {
  const [world, browser] = await Promise.all([startUiWorld(options), launchBrowser()])
  const { hub } = world
  const complaints: string[] = []
  const address = (path: string) => `${hub.baseUrl}${path}`

  const profile: UiLab['profile'] = async (more) => {
    const context = await browser.newContext({ ...locality, ...more })
    context.setDefaultTimeout(patience.timeout)
    watch(context, complaints)
    return context
  }
  const profileOf: UiLab['profileOf'] = async (role, { tenant = 'acme', ...more } = {}) => {
    const context = await profile(more)
    const email = roleEmails[role].replace('acme', tenant)
    const answer = await context.request.post(address('/api/v1/auth/mock-login'), { data: { email, tenant } })
    if (!answer.ok()) throw new Error(`${email} is not signed in: ${await answer.text()}`)
    return context
  }

  return {
    ...{ hub, world, browser, complaints, address, profile, profileOf },
    async signInAs(role, path = '/', more = {}) {
      const page = await (await profileOf(role, more)).newPage()
      await page.goto(address(path))
      await page.locator('h1').first().waitFor()
      return page
    },
    async stop() {
      await browser.close()
      await world.stop()
    },
  }
}

/** Else Chromium takes them of the machine, where a language may be one that no browser of a person has. */
const locality = { locale: 'en-GB', timezoneId: 'Europe/Berlin', reducedMotion: 'reduce' } as const

/** The console of the browser also has what a content security policy stopped. */
export function watch(context: BrowserContext, complaints: string[]): void {
  const note = (page: Page | null, text: string) => complaints.push(`${page?.url()}: ${text}`)
  context.on('weberror', (error) => note(error.page(), error.error().stack ?? error.error().message))
  context.on('console', (message) => {
    const text = message.text()
    // A refused call is an entry there, too; what pages make of those is for each test.
    if (/^(error|warning)$/.test(message.type()) && !text.startsWith('Failed to load resource'))
      note(message.page(), text)
  })
}

/** What keeps somebody from using what the page shows now, as far as a machine can tell. */
export async function barriers(page: Page, rule?: string): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
  const options = { resultTypes: ['violations'], preload: false, ...(rule && { runOnly: [rule] }) }
  const { violations, passes } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as AxeResults
  // So that a look at nothing is none.
  if (!passes.some(({ id }) => id === 'color-contrast')) return ['there is nothing to read']
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 300)}: ${failureSummary}`),
  )
}

/** Everyone can use what the page shows, once colors have changed with the scheme. */
export async function expectAccessible(page: Page, message = page.url()): Promise<void> {
  await expect.poll(() => barriers(page), { message, interval: 500 }).toEqual([])
}

/** Nothing of the page is wider than its window, once charts and tables have followed the window. */
export async function expectNoSidewaysScroll(page: Page, message = page.url()): Promise<void> {
  const excess = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
  await expect.poll(() => page.evaluate(excess), { message }).toBeLessThanOrEqual(0)
}
