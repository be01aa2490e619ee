import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { expectAccessible, startUiLab, type UiLab } from '../../browser/ui-lab.ts'

/** Clicks that each task may take, from the command center. Typing, Enter and the browser's own windows do not count. */
const maxima = {
  'why costs rose last week': 2,
  'the error codes of a failing skill': 1,
  'a decision by its words': 2,
  'the proof of a record': 3,
  'a new person': 4,
  'the first event of a new service account': 5,
  'a webhook with a test message': 9,
  'an export': 3,
  'a legal hold': 4,
  'single sign-on': 3,
  'a budget': 3,
  'everything of one session': 2,
} as const

let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 2000 })
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

type Click = (target: Locator) => Promise<void>

/** Walks a task from the command center as an administrator, and counts its clicks. */
function walk(task: keyof typeof maxima, steps: (page: Page, click: Click) => Promise<void>): void {
  test(`${task}: ${maxima[task]} clicks at most`, async () => {
    const page = await lab.signInAs('admin')
    let clicks = 0
    await steps(page, (target) => {
      clicks += 1
      return target.click()
    })
    expect(clicks).toBeLessThanOrEqual(maxima[task])
    await expectAccessible(page, task)
  })
}

const section = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name, exact: true })
const button = (within: Pick<Page, 'getByRole'>, name: string) => within.getByRole('button', { name, exact: true })
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name })

async function findDecision(page: Page, click: Click) {
  await click(section(page, 'Records'))
  await page.getByRole('searchbox', { name: 'Search the text of records' }).fill('drafts campaign week 41')
  await page.waitForURL(/q=/)
  await click(page.getByRole('row', { name: /campaign of week 41/ }).first())
}

walk('why costs rose last week', async (page, click) => {
  await click(page.getByText('7 days', { exact: true }))
  await click(button(page, 'Explain the change'))
  for (const dimension of ['skill', 'model', 'archetype', 'user']) {
    const drivers = page.getByRole('region', { name: `Changes by ${dimension}` })
    await drivers.getByRole('button').first().waitFor()
    expect(await drivers.getByRole('button').count()).toBeLessThanOrEqual(3)
    expect(await drivers.getByRole('button').first().textContent()).toMatch(/(up|down) \$/)
  }
})

walk('the error codes of a failing skill', async (page, click) => {
  const code = page
    .getByRole('article', { name: 'Newly failing' })
    .getByRole('link', { name: /^[A-Z_]+$|_/ })
    .first()
  const name = (await code.textContent()) ?? ''
  await click(code)
  await page.waitForURL(new RegExp(`error_code=${name}`))
  await page.getByRole('table', { name: 'Records' }).getByRole('row').nth(1).waitFor()
})

walk('a decision by its words', async (page, click) => {
  await findDecision(page, click)
  await page
    .getByRole('dialog')
    .getByText(/campaign of week 41/)
    .first()
    .waitFor()
})

walk('the proof of a record', async (page, click) => {
  await findDecision(page, click)
  const [file] = await Promise.all([page.waitForEvent('download'), click(button(page, 'Download proof'))])
  expect(file.suggestedFilename()).toMatch(/^proof-[0-9a-f-]{36}\.json$/)
})

walk('a new person', async (page, click) => {
  await click(section(page, 'People'))
  await click(page.getByRole('navigation', { name: 'People' }).getByRole('link', { name: 'People and roles' }))
  await click(button(page, 'Invite user'))
  const form = dialog(page, 'Invite user')
  await form.getByLabel('E-mail address').fill('new.person@acme.example')
  await click(button(form, 'Invite user'))
  await button(dialog(page, 'Invitation'), 'Copy link').waitFor()
})

walk('the first event of a new service account', async (page, click) => {
  await click(section(page, 'Integrations'))
  await click(page.getByRole('navigation', { name: 'Integrations' }).getByRole('link', { name: 'Service accounts' }))
  await click(button(page, 'Add service account'))
  const form = dialog(page, 'Add service account')
  await form.getByLabel('Name').fill('Of the walk')
  await click(button(form, 'Send telemetry'))
  await click(button(form, 'Add service account'))
  const once = dialog(page, 'Client id and secret')
  await once.getByText('Waiting for your first event…').waitFor()
  const snippet = (await once.getByRole('region', { name: 'Snippet for curl' }).textContent()) ?? ''
  const [, clientId, secret] = snippet.match(/user = .* '(\w+):(\w+)'/) ?? []
  const granted = await fetch(lab.address('/api/v1/oauth/token'), {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const { access_token } = (await granted.json()) as { access_token: string }
  const used = await lab.hub.call('acme', 'GET', '/api/v1/hub/records?record_type=telemetry_event&limit=1')
  const { user_id, archetype_id, skill_id, skill_version, llm_platform } = used.body.records[0]
  const sent = await lab.hub.call('acme', 'POST', '/api/v1/telemetry/events', {
    token: access_token,
    body: {
      ...{ user_id, archetype_id, skill_id, skill_version, llm_platform },
      ...{ ts: new Date().toISOString(), success: true, latency_ms: 9, tokens_in: 1, tokens_out: 1 },
      cost_usd_estimate: 0.01,
    },
  })
  expect(sent.status, sent.text).toBeLessThan(300)
  await once.getByText('Your first event arrived.').waitFor()
})

walk('a webhook with a test message', async (page, click) => {
  const receiving = lab.world.outside.webhooks.at('/of-the-walk')
  await click(section(page, 'Integrations'))
  await click(page.getByRole('navigation', { name: 'Integrations' }).getByRole('link', { name: 'Webhooks' }))
  await click(button(page, 'Add endpoint'))
  const form = dialog(page, 'Add endpoint')
  await form.getByLabel('Address').fill(receiving.url)
  await click(form.getByLabel('user.provisioned'))
  await click(button(form, 'Add endpoint'))
  const once = dialog(page, 'The endpoint’s secret')
  receiving.secrets = [(await once.locator('code', { hasText: /^whsec_/ }).textContent()) ?? '']
  await click(once.getByRole('checkbox'))
  await click(button(once, 'Done'))
  await click(button(page, 'Live test'))
  const trial = dialog(page, 'Live test')
  await click(button(trial, 'Send test message'))
  await trial.getByText('The receiver took it').waitFor()
})

walk('an export', async (page, click) => {
  await click(section(page, 'Exports'))
  await click(button(page, 'Create export'))
  await click(button(dialog(page, 'Create an export'), 'Create export'))
  await page.waitForURL('**/exports/exp_*')
  await page.getByText('All records verified').waitFor()
})

walk('a legal hold', async (page, click) => {
  await click(section(page, 'Governance'))
  await click(page.getByRole('navigation', { name: 'Governance' }).getByRole('link', { name: 'Legal holds' }))
  await click(button(page, 'Place hold'))
  const form = dialog(page, 'Place a legal hold')
  await form.getByLabel(/^Name/).fill('Case of the walk')
  await form.getByLabel('Reason').fill('Requested by a court')
  const { records } = (await lab.hub.call('acme', 'GET', '/api/v1/hub/records?record_type=decision&limit=2')).body
  await form
    .getByLabel('Ids of records')
    .fill(records.map((record: { record_id: string }) => record.record_id).join('\n'))
  await form.getByText('2 records named').waitFor()
  await click(button(form, 'Place hold'))
  await page.getByText('“Case of the walk” is in force.').first().waitFor()
})

walk('single sign-on', async (page, click) => {
  await click(section(page, 'Integrations'))
  await click(page.getByRole('navigation', { name: 'Integrations' }).getByRole('link', { name: 'Single sign-on' }))
  await click(button(page, 'Run test'))
  await page.getByText('Everything works').waitFor()
})

walk('a budget', async (page, click) => {
  await click(section(page, 'Budgets'))
  await click(button(page, 'Add budget'))
  const form = page.getByRole('dialog')
  await form.getByLabel('Amount for each period').fill('100')
  await click(button(form, 'Add budget'))
  await page
    .getByRole('region', { name: 'All usage' })
    .getByText(/of \$100/)
    .waitFor()
})

walk('everything of one session', async (page, click) => {
  await click(section(page, 'Sessions'))
  await click(page.getByRole('link', { name: 'support-chat-8812' }))
  await page.getByText('support-chat-8812').first().waitFor()
  const { body } = await lab.hub.call('acme', 'GET', '/api/v1/hub/records?session_id=support-chat-8812&limit=100')
  expect(body.records.length).toBeGreaterThan(1)
  await page
    .getByRole('region', { name: 'Totals' })
    .getByText(String(body.records.length), { exact: true })
    .first()
    .waitFor()
  // A step opens beside the tree, without leaving the page.
  const { pathname } = new URL(page.url())
  await page.getByRole('table', { name: 'Steps' }).getByRole('row').nth(1).press('Enter')
  await page.getByRole('dialog').getByText('Verified by this browser').waitFor()
  expect(new URL(page.url()).pathname).toBe(pathname)
})
