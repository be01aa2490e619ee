import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callbackPath, client } from '../../auth/oidc-lab.ts'
import { expectAccessible } from '../../browser/ui-lab.ts'
import { type OnboardingLab, startOnboardingLab, tenant } from '../../onboarding/onboarding-lab.ts'
import { launchBrowser } from '../../support/browser.ts'
import { patience } from '../../support/machine-speed.ts'
import { event } from '../../telemetry/events.ts'

/** An administrator takes an empty tenant from nothing to live, by the pages alone. */
let lab: OnboardingLab
let browser: Browser
let page: Page
const complaints: string[] = []

beforeAll(async () => {
  ;[lab, browser] = await Promise.all([startOnboardingLab(6), launchBrowser()])
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin' })
  context.setDefaultTimeout(patience.timeout)
  context.on('weberror', (error) => complaints.push(error.error().message))
  const signedIn = await context.request.post(`${lab.hub.baseUrl}/api/v1/auth/mock-login`, {
    data: { email: 'peter@initech.example', tenant },
  })
  expect(signedIn.status()).toBe(200)
  page = await context.newPage()
  await page.goto(`${lab.hub.baseUrl}/onboarding`)
})
afterAll(async () => {
  await browser?.close()
  await lab?.close()
})

const checks = () => page.getByText(/\d of 6 checks are met/)
const section = (name: string) =>
  page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name, exact: true }).click()
/** Opens a page by its section and its tab. */
async function tab(of: 'Skills' | 'People' | 'Integrations', name: string): Promise<void> {
  await section(of)
  await page.getByRole('navigation', { name: of, exact: true }).getByRole('link', { name }).click()
}
const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
const step = (name: string) => page.getByRole('listitem').filter({ has: page.getByText(name, { exact: false }) })
const field = (name: string) => page.getByRole('textbox', { name })

/** Reads what is shown once, and says that it is kept. */
async function keepSecret(): Promise<void> {
  const dialog = page.getByRole('dialog').filter({ hasText: 'I have kept it' })
  await dialog.getByRole('checkbox').check()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('at first nothing is met, and the details are confirmed', async () => {
  await page.getByText('0 of 6 checks are met').waitFor()
  await field('Organisation').fill('Initech')
  await field('Contact address').fill('no address')
  await press('Confirm details')
  await page.getByText('Give a whole address, or nothing').waitFor()
  await field('Contact address').fill('it@initech.example')
  await press('Confirm details')
  await page.getByRole('button', { name: 'Confirm details' }).waitFor({ state: 'detached' })
  expect(await lab.must('GET', '/api/v1/tenant')).toMatchObject({
    display_name: 'Initech',
    contact_email: 'it@initech.example',
    confirmed_at: expect.any(String),
  })
})

test('the Hub is provisioned on the spot', async () => {
  await page.getByText('0 of 6 checks are met, 2 optional for a trial. Next: Hub').waitFor()
  await page.getByRole('textbox', { name: /Records are kept for/ }).fill('2555')
  await press('Provision the Hub')
  await page.getByText('1 of 6 checks are met').waitFor()
  expect(await lab.must('GET', '/api/v1/hub/provision')).toMatchObject({ provisioned: true, retention_days: 2555 })
  await expectAccessible(page)
})

test('single sign-on is refused, fails its test, and is mended, each time in words', async () => {
  // The card folds when its check is met. An optional check opens on demand.
  await page.getByRole('button', { name: 'Provision the Hub' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /^1\. Sign-in and directory.*Optional for a trial/ }).click()
  await page.getByRole('link', { name: 'Connect single sign-on' }).click()
  await page.getByText(`${lab.hub.baseUrl}${callbackPath}`).waitFor()
  await field('Issuer').fill(`${lab.provider.issuer}/nowhere`)
  await field('Client id').fill(client.client_id)
  await page.getByLabel('Client secret').fill('not the secret')
  await page.getByLabel('Allowed e-mail domains').first().fill('initech.example')
  await press('Connect')
  await page
    .getByText(/nowhere\/\.well-known\/openid-configuration/)
    .first()
    .waitFor()

  // What was typed is still there.
  expect(await field('Client id').inputValue()).toBe(client.client_id)
  await field('Issuer').fill(lab.provider.issuer)
  await press('Connect')
  await press('Run test')
  await page.getByText('It fails at: Client').waitFor()
  await page.getByText('The token endpoint refuses the client').waitFor()
  await page.getByText('Enter client id and client secret again').waitFor()
  await step('Keys').getByText('Passed').waitFor()

  await page.getByLabel('Client secret').fill(client.client_secret)
  await press('Save')
  // The page begins again with the saved settings, and the secret is out of its field.
  await expect.poll(() => page.getByLabel('Client secret').inputValue()).toBe('')
  await press('Run test')
  await page.getByText('Everything works').waitFor()
  expect(await page.content()).not.toContain(client.client_secret)
})

test('archetypes are added, and the directory is read', async () => {
  await tab('People', 'Roster')
  await page.getByRole('radiogroup', { name: 'Part of the roster' }).getByText('Archetypes').click()
  for (const id of ['analyst', 'writer']) {
    await field('Id').fill(id)
    await press('Add archetype')
    await page.getByRole('button', { name: `Remove ${id}` }).waitFor()
  }
  await tab('Integrations', 'Directory')
  await page.getByRole('radio', { name: 'The Hub pulls' }).check()
  await field('Address of the directory').fill(lab.source.baseUrl)
  await page.getByLabel('Bearer token').fill(lab.source.token)
  for (const [index, { group, archetype }] of [
    { group: 'Analysts', archetype: 'analyst' },
    { group: 'Writers', archetype: 'writer' },
  ].entries()) {
    await press('Add group')
    await page
      .getByLabel(`Group ${index + 1}`, { exact: true })
      .first()
      .fill(group)
    await page
      .getByLabel(`Archetype of group ${index + 1}`)
      .first()
      .click()
    await page.getByRole('option', { name: archetype, exact: true }).click()
  }
  await press('Connect')
  await keepSecret()
  await press('Run test')
  await page.getByText('GET /Users: 6 people.').waitFor()
  await press('Sync now')
  await page.getByRole('table', { name: 'Syncs' }).getByText('completed').waitFor()
  expect(await lab.must('GET', '/api/v1/roster/scim:sync')).toMatchObject({
    status: 'completed',
    added: 6,
    unmatched: 0,
  })
  expect(await page.content()).not.toContain(lab.source.token)
})

test('a connector is added, and publishes', async () => {
  await tab('Integrations', 'Connectors')
  await page.getByRole('button', { name: 'Add connector' }).first().click()
  const form = page.getByRole('dialog', { name: 'Add a connector' })
  await form.getByLabel('Platform').first().click()
  await page.getByRole('option', { name: 'Another platform' }).click()
  await form.getByRole('textbox', { name: 'Name of the platform' }).fill('desk')
  await form.getByRole('textbox', { name: 'Display name' }).fill('Desk')
  await form.getByRole('button', { name: 'Add connector' }).click()
  await form.getByText('Say where the Hub sends the skills to.').waitFor()
  await form.getByRole('textbox', { name: 'Publish address' }).fill(lab.receiver.url)
  await form.getByRole('button', { name: 'Add credential' }).click()
  await form.getByLabel('Value').fill('token-of-the-desk-1234')
  await form.getByRole('button', { name: 'Add connector' }).click()
  await keepSecret()
  const details = page.getByRole('dialog', { name: 'Connector' })
  await details.getByRole('button', { name: 'Run test' }).click()
  await details.getByText('Everything works').waitFor()
  const { items } = await lab.must('GET', '/api/v1/llm/connectors')
  expect(items).toMatchObject([{ platform: 'custom:desk', credentials: ['bearer_token'] }])
  expect(lab.receiver.received.at(-1)?.headers.authorization).toBe('Bearer token-of-the-desk-1234')
  await page.keyboard.press('Escape')
  await details.waitFor({ state: 'detached' })
})

test('a pack is made, shows what it would do, and is applied', async () => {
  await tab('Skills', 'Skills and packs')
  await press('Add pack')
  const form = page.getByRole('dialog', { name: 'Add a pack' })
  await form.getByRole('textbox', { name: 'Name', exact: true }).fill('Office')
  await form.getByRole('textbox', { name: 'Id', exact: true }).fill('office')
  await form.getByLabel('Archetypes').first().click()
  await page.getByRole('option', { name: 'analyst' }).click()
  await page.getByRole('option', { name: 'writer' }).click()
  await page.keyboard.press('Escape')
  await form.getByRole('button', { name: 'Add skill' }).click()
  await form.getByLabel('Skill id').first().fill('summarise')
  await form.getByRole('textbox', { name: 'Skill name' }).fill('Summarise')
  await form.getByRole('textbox', { name: 'Instructions (SKILL.md)' }).fill('Do summarise.')
  await form.getByRole('button', { name: 'Add pack' }).click()
  await page.getByRole('button', { name: 'Apply …' }).click()
  const question = page.getByRole('dialog', { name: 'Apply Office?' })
  await question.getByText('summarise → writer').waitFor()
  await question.getByRole('button', { name: 'Apply pack' }).click()
  await question.waitFor({ state: 'detached' })
  await page.getByText('Last application that changed something').waitFor()
  expect(await lab.must('GET', '/api/v1/skill-entitlement/coworks/office')).toMatchObject({
    skills: [{ skill_id: 'summarise', manifest: { skill_md: 'Do summarise.' } }],
  })
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('the first event makes the tenant live, which the page sees by itself', async () => {
  await section('Onboarding')
  await press('Publish skills now')
  await page.getByText('5 of 6 checks are met').waitFor()
  await page.getByText('Waiting for your first event').waitFor()
  const snippet = page.getByRole('region', { name: 'Snippet for curl' })
  await expect.poll(() => snippet.textContent()).toContain(`X-Service-Tenant: ${tenant}`)
  expect(await snippet.textContent()).toContain('"skill_id": "summarise"')

  const sent = event({ skill_id: 'summarise', archetype_id: 'analyst', user_id: 'user:person-0@initech.example' })
  await lab.must('POST', '/api/v1/telemetry/events', sent)
  await page.getByText('The tenant is live', { exact: true }).waitFor()
  await checks().and(page.getByText('6 of 6')).waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'See the event' }).click()
  await page.waitForURL(/\/records\/[0-9a-f-]{36}$/)
  const [live] = (await lab.must('GET', '/api/v1/hub/records?event_kind=tenant.live')).records
  expect(page.url()).toContain(live.record_id)
  expect(complaints).toEqual([])
})
