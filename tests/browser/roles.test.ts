import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Role } from '../../contract/roles.ts'
import { startUiLab, type UiLab } from './ui-lab.ts'

let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 100 })
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

const linksOf = (page: Page, navigation: string) =>
  page.getByRole('navigation', { name: navigation, exact: true }).getByRole('link').allInnerTexts()

/** What the API says to whoever is signed in there. */
async function ask(context: BrowserContext, path: string): Promise<number> {
  const { access_token } = await (await context.request.post(lab.address('/api/v1/auth/token'))).json()
  const headers = { authorization: `Bearer ${access_token}`, 'x-service-tenant': 'acme' }
  return (await context.request.get(lab.address(path), { headers })).status()
}

interface Reach {
  sections: string[]
  /** Pages of the settings. */
  settings: string[]
  /** Pages that do not open, and what each would ask the API for. */
  closed: Record<string, string>
}

const roster = { '/skills/roster': '/api/v1/roster/users' }
const ofAdministrators = {
  '/webhooks': '/api/v1/webhooks',
  '/settings/tenant': '/api/v1/tenant',
  '/settings/service-accounts': '/api/v1/service-accounts',
  '/skills/connectors': '/api/v1/llm/connectors',
  '/settings/sign-in': '/api/v1/identity/sso/configure',
}

const reaches: Record<Role, Reach> = {
  admin: {
    sections: [
      'Overview',
      'Skills',
      'People',
      'Sessions',
      'Records',
      'Governance',
      'Budgets',
      'Exports',
      'Integrations',
      'Settings',
    ],
    settings: ['You', 'Tenant', 'Prices', 'Onboarding'],
    closed: {},
  },
  auditor: {
    sections: ['Overview', 'Skills', 'People', 'Sessions', 'Records', 'Governance', 'Budgets', 'Exports', 'Settings'],
    settings: ['You', 'Prices', 'Onboarding'],
    closed: ofAdministrators,
  },
  analyst: {
    sections: ['Overview', 'Sessions', 'Records', 'Governance', 'Budgets', 'Exports', 'Settings'],
    settings: ['You', 'Prices'],
    closed: { ...ofAdministrators, ...roster },
  },
  member: {
    sections: ['Overview', 'Sessions', 'Records', 'Budgets', 'Exports', 'Settings'],
    settings: ['You', 'Prices'],
    closed: { ...ofAdministrators, ...roster },
  },
}

test.each(Object.entries(reaches))('%s sees what the role opens, and nothing else', async (role, reach) => {
  const page = await lab.signInAs(role as Role, '/settings')
  // A tenant that is live has Onboarding among the settings.
  await expect.poll(() => linksOf(page, 'Sections')).toEqual(reach.sections)
  expect(await linksOf(page, 'Settings')).toEqual(reach.settings)
  for (const [path, asked] of Object.entries(reach.closed)) {
    await page.goto(lab.address(path))
    await page.getByText('You do not have access to this page').waitFor()
    expect([path, await ask(page.context(), asked)]).toEqual([path, 403])
  }
})

test('the command palette names only pages that open', async () => {
  const page = await lab.signInAs('analyst')
  await page.keyboard.press('Control+k')
  const found = page.getByRole('dialog').getByRole('option')
  await page.getByRole('dialog').getByText('Overview').first().waitFor()
  const all = (await found.allInnerTexts()).join('\n')
  for (const label of ['Records', 'Events', 'Budgets', 'Exports', 'Prices']) expect(all).toContain(label)
  for (const label of ['Webhooks', 'Roster', 'People and roles', 'Connectors']) expect(all).not.toContain(label)
})

test('the tenant is shown, and another one is another sign-in', async () => {
  const page = await lab.signInAs('analyst')
  await page.getByRole('button', { name: /^Tenant acme/ }).click()
  await page.getByRole('menuitem', { name: 'Sign in to another tenant' }).click()
  await page.waitForURL(lab.address('/sign-in**'))
  await page.fill('#tenant', 'globex')
  await page.fill('#mock-email', 'admin@globex.example')
  await page.click('#mock-sign-in')
  await page.getByRole('button', { name: /^Tenant globex/ }).click()
  await page.getByRole('menuitem', { name: 'acme' }).click()
  await page.waitForURL(lab.address('/sign-in?tenant=acme**'))
})
