import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { Role } from '../../contract/roles.ts'
import { eventsOf, type GovernanceEventRecord } from '../auth/auth-lab.ts'
import { launchBrowser } from '../support/browser.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { patience } from '../support/machine-speed.ts'

/** Somebody the identity provider knows. */
export const kim = { sub: 'kim', email: 'kim@acme.example', email_verified: true, name: 'Kim Novak' }

/** The Hub on a loopback port, a browser, and an identity provider of the tenant acme on what browsers call another site. */
export interface BrowserLab {
  hub: TestHub
  provider: IdentityProvider
  browser: Browser
  /** A browser profile of its own: cookies, storage. What pages do against their policy is kept in {@link complaints}. */
  profile(options?: BrowserContextOptions): Promise<BrowserContext>
  /** Errors of scripts, and breaches of content security policies, in every page of the Hub so far. */
  complaints: string[]
  address(path: string): string
  add(tenant: TestTenant, email: string, role: Role): Promise<void>
  events(tenant: TestTenant, kind: string): Promise<GovernanceEventRecord[]>
  close(): Promise<void>
}

export async function startBrowserLab(settings: Record<string, string> = {}): Promise<BrowserLab> {
  const [hub, browser] = await Promise.all([
    startHub({ settings: { HUB_OUTBOUND_ALLOW: 'localhost', ...settings } }),
    launchBrowser(),
  ])
  const client = { client_id: 'hub-client', client_secret: 'a secret of the provider' }
  const provider = await startIdentityProvider({
    clients: [{ ...client, redirect_uris: [`${hub.baseUrl}/api/v1/auth/callback`] }],
    accounts: [kim],
    host: 'localhost',
  })
  const body = { issuer: provider.issuer, ...client, allowed_email_domains: ['acme.example'] }
  const { status, text } = await hub.call('acme', 'POST', '/api/v1/identity/sso/configure', { body })
  if (status !== 200) throw new Error(`the identity provider is not connected: ${text}`)
  const complaints: string[] = []

  return {
    hub,
    provider,
    browser,
    complaints,
    address: (path) => `${hub.baseUrl}${path}`,
    async profile(options) {
      const context = await browser.newContext(options)
      context.setDefaultTimeout(patience.timeout)
      watch(context, hub.baseUrl, complaints)
      return context
    },
    async add(tenant, email, role) {
      const answer = await hub.call(tenant, 'POST', '/api/v1/roster/users', { body: { email, role } })
      if (answer.status !== 201) throw new Error(answer.text)
    },
    events: async (tenant, kind) =>
      (await eventsOf(hub.test.database, tenant)).filter((event) => event.event_kind === kind),
    async close() {
      await browser.close()
      await provider.stop()
      await hub.stop()
    },
  }
}

/** The console of the browser also has what a content security policy stopped. */
function watch(context: BrowserContext, origin: string, complaints: string[]): void {
  const note = (page: Page | null, text: string) => {
    if (page?.url().startsWith(origin)) complaints.push(`${page.url()}: ${text}`)
  }
  context.on('weberror', (error) => note(error.page(), error.error().message))
  context.on('console', (message) => {
    const text = message.text()
    // A refused call is an entry there, too; what pages make of those is for each test.
    if (/^(error|warning)$/.test(message.type()) && !text.startsWith('Failed to load resource'))
      note(message.page(), text)
  })
}

/** So that what is tested of signing in does not wait for the web UI. */
export const landOnSession = 'return_to=/session'

/** From the page /sign-in through the identity provider's form, until the browser is back. */
export async function signInByCompany(
  page: Page,
  lab: BrowserLab,
  sub = kim.sub,
  query = `&${landOnSession}`,
): Promise<void> {
  await page.goto(lab.address(`/sign-in?tenant=acme${query}`))
  await page.click('#company')
  await page.waitForURL(`${lab.provider.issuer}/**`)
  await page.fill('#sub', sub)
  await page.click('#sign-in')
  await page.waitForURL(`${lab.hub.baseUrl}/**`)
}

/** Signs in with no proof, outside production. */
export async function signInByMock(page: Page, lab: BrowserLab, email: string, tenant: TestTenant = 'acme') {
  await page.goto(lab.address(`/sign-in?tenant=${tenant}&${landOnSession}`))
  await page.fill('#mock-email', email)
  await page.click('#mock-sign-in')
  await page.waitForURL(lab.address('/session'))
  await status(page, 'You are signed in.')
}

/** Waits until the page /session says so. */
export async function status(page: Page, text: string): Promise<void> {
  await page.getByText(text, { exact: true }).and(page.locator('#status')).waitFor()
}

/** Presses a button of the page /session, and waits until what it does is done. */
export async function press(page: Page, id: string): Promise<void> {
  await page.click(`#${id}`)
  await page.locator('button:disabled').first().waitFor({ state: 'detached' })
}
