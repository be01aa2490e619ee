import { readFile } from 'node:fs/promises'
import type { Download, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { expectAccessible, expectNoSidewaysScroll, startUiLab, type UiLab } from '../../browser/ui-lab.ts'
import { sendLately } from '../../browser/world/telemetry.ts'

let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 600 })
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

/** Ten days that are over, so that what is sent meanwhile changes nothing. */
const quarterHourMs = 900_000
const to = new Date(Math.floor(Date.now() / quarterHourMs) * quarterHourMs - 2 * 86_400_000).toISOString()
const from = new Date(Date.parse(to) - 10 * 86_400_000).toISOString()
const tenDays = `range=custom&from=${from}&to=${to}`
const still = `/?${tenDays}&live=off`

const summary = async (query = '') =>
  (await lab.hub.call('acme', 'GET', `/api/v1/telemetry/summary?from=${from}&to=${to}${query}`)).body
const figure = (page: Page, label: string) => page.getByRole('article', { name: label, exact: true })
const value = (page: Page, label: string) => figure(page, label).locator('[data-value]').textContent()
const breakdown = (page: Page) => page.getByRole('region', { name: 'Breakdown' })
const bodyRows = (table: Locator) => table.locator('tbody tr[data-index]')
const choose = (within: Locator, label: string) => within.locator('label', { hasText: label }).click()
const count = (number: number) => new Intl.NumberFormat('en-GB').format(number)

/** The item of a menu, or the one file there is. */
async function saved(page: Page, what: string, item?: string): Promise<{ download: Download; content: Buffer }> {
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: `Export ${what}`, exact: true }).click()
  if (item) await page.getByRole('menuitem', { name: item }).click()
  return { download: await download, content: await readFile(await (await download).path()) }
}

describe('figures', () => {
  test('of a day stand in a table beside each chart, with zeros and gaps for what there was not', async () => {
    const page = await lab.signInAs('auditor', `${still}&interval=hour`)
    const { rows, totals } = await summary('&interval=hour&time_zone=Europe/Berlin&limit=1000')
    await page.getByRole('region', { name: 'Latency' }).locator('.recharts-surface').first().waitFor()
    const { content } = await saved(page, 'Invocations and failures', 'Figures as CSV')
    const lines = content.toString().trimEnd().split('\r\n')
    expect(lines.shift()).toBe('start,invocations,failures,failure_rate,previous_invocations')
    expect(lines.length).toBeGreaterThanOrEqual(240)
    const sum = lines.map((line) => Number(line.split(',')[1])).reduce((one, other) => one + other)
    expect(sum).toBe(totals.invocations)
    expect(lines.filter((line) => /,0,0,,\d+$/.test(line))).toHaveLength(lines.length - rows.length)

    const latency = page.getByRole('region', { name: 'Latency' })
    await choose(latency, 'Table')
    await latency.getByRole('columnheader', { name: 'p95' }).waitFor()
    expect(await latency.getByRole('row').count()).toBeGreaterThan(5)
    await expectAccessible(page)
  })

  test('are drawn, and a chart is saved as an image', async () => {
    const page = await lab.signInAs('analyst', still)
    await page
      .getByRole('region', { name: 'Tokens' })
      .locator('.recharts-bar-rectangle')
      .filter({ visible: true })
      .first()
      .waitFor()
    const { download, content } = await saved(page, 'Tokens', 'Image as PNG')
    expect(download.suggestedFilename()).toMatch(/^tokens-\d{4}-\d\d-\d\d-to-\d{4}-\d\d-\d\d\.png$/)
    expect(content.subarray(0, 8)).toEqual(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))
    // Of twice the size of the frame on the screen.
    expect(content.readUInt32BE(16)).toBeGreaterThan(600)
    expect(content.length).toBeGreaterThan(5000)
  })
})

describe('live', () => {
  test('an event comes by itself', async () => {
    const page = await lab.signInAs('analyst', '/?range=24h')
    const list = page.getByRole('region', { name: 'Live events' })
    await bodyRows(list).first().waitFor()
    await sendLately(lab.hub, 1)
    const query = '?record_type=telemetry_event&sort=-created_at&limit=1'
    const [event] = (await lab.hub.call('acme', 'GET', `/api/v1/hub/records${query}`)).body.records
    await list.locator(`a[href="/records/${event.record_id}"]`).waitFor()
  })

  test('the figures follow', async () => {
    const page = await lab.signInAs('analyst', '/?range=24h')
    await figure(page, 'Invocations').locator('[data-value]').waitFor()
    const before = (await value(page, 'Invocations')) ?? ''
    await sendLately(lab.hub, 3)
    const after = count(Number(before.replaceAll(',', '')) + 3)
    await figure(page, 'Invocations').getByText(after, { exact: true }).waitFor()
  })

  test('off asks for nothing by itself; on it does', async () => {
    const context = await lab.profileOf('analyst')
    const page = await context.newPage()
    await page.clock.install()
    await page.goto(lab.address(still))
    await bodyRows(page.getByRole('region', { name: 'Live events' }))
      .first()
      .waitFor()
    await page.waitForLoadState('networkidle')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.clock.runFor(15_000)
    expect(asked).toEqual([])
    await Promise.all([page.waitForRequest(/\/hub\/records\?/), page.getByRole('switch', { name: 'Live' }).click()])
    expect(new URL(page.url()).searchParams.has('live')).toBe(false)
  })
})

describe('the breakdown', () => {
  test('is ordered by any column, and saved so', async () => {
    const page = await lab.signInAs('analyst', `${still}&group_by=model`)
    await breakdown(page).getByRole('button', { name: 'Calculated' }).click()
    await page.waitForURL(/sort=cost_computed/)
    await breakdown(page).getByRole('columnheader', { name: 'Calculated' }).and(page.locator('[aria-sort]')).waitFor()
    const { content } = await saved(page, 'Breakdown as CSV')
    const [header = '', ...lines] = content.toString().trimEnd().split('\r\n')
    const at = header.split(',').indexOf('cost_usd_computed')
    const costs = lines.map((line) => Number(line.split(',')[at]))
    const { rows } = await summary('&group_by=model')
    expect(costs).toEqual(
      rows
        .map((row: { cost_usd_computed: number }) => row.cost_usd_computed)
        .sort((one: number, other: number) => (/order=asc/.test(page.url()) ? one - other : other - one)),
    )
  })

  test('crosses two dimensions, and a cell narrows the page to both', async () => {
    const page = await lab.signInAs('analyst', `${still}&across=platform`)
    const { rows } = await summary('&group_by=platform&skill_id=support.reply-draft')
    const claude = rows.find(({ key }: { key: string }) => key === 'claude')
    const name = `${count(claude.invocations)}: support.reply-draft and claude. Show only these.`
    const cell = page.getByRole('button', { name })
    await cell.waitFor()
    await expectAccessible(page)
    // One Tab leads into the cells, and arrow keys from one to the next.
    const cells = breakdown(page).locator('[data-cell]')
    await cells.and(page.locator('[tabindex="0"]')).focus()
    await page.keyboard.press('ArrowRight')
    await cells.nth(1).and(page.locator(':focus')).waitFor()
    await cell.click()
    await figure(page, 'Invocations').getByText(count(claude.invocations), { exact: true }).waitFor()
    await page.getByText('Platform: claude').waitFor()
  })
})

test('what needs attention: a skill that fails now, published ones that nobody uses, and costs', async () => {
  const event = {
    ...{ skill_id: 'legal.contract-review', skill_version: '2.5.0', archetype_id: 'legal-counsel' },
    ...{ user_id: 'user:lena.abara@acme.example', llm_platform: 'custom:handbook-bot', llm_model: 'acme-internal-7b' },
    ...{ ts: new Date().toISOString(), success: false, error_code: 'tool_failed', latency_ms: 900 },
    ...{ tokens_in: 100, tokens_out: 0, cost_usd_estimate: 0.01 },
  }
  const body = { events: [event, event, event] }
  expect((await lab.hub.call('acme', 'POST', '/api/v1/telemetry/events:batch', { body })).body.failed).toBe(0)
  const page = await lab.signInAs('admin', '/?range=7d&live=off')
  const failing = page.getByRole('article', { name: 'Newly failing' })
  await failing.getByRole('button', { name: 'legal.contract-review' }).waitFor()
  const dead = page.getByRole('article', { name: 'Unused skills' })
  await dead.getByRole('link', { name: 'hr.policy-answer' }).waitFor()
  expect(await dead.getByRole('link').allTextContents()).not.toContain('fin.variance-note')
  await page.getByRole('article', { name: 'Cost exceptions' }).getByText('acme-internal-7b', { exact: true }).waitFor()
})

describe('what cannot be read is said, and the rest stands', () => {
  const refused = { status: 400, json: { type: 'about:blank/broken', title: 'Broken', status: 400, detail: 'A test.' } }
  /** Refuses calls of the summary whose query has these. */
  async function pageWithout(isRefused: (query: URLSearchParams) => boolean, search = '') {
    const page = await (await lab.profileOf('auditor')).newPage()
    await page.route(
      (url) => url.pathname === '/api/v1/telemetry/summary' && isRefused(url.searchParams),
      (route) => route.fulfill(refused),
    )
    await page.goto(lab.address(`${still}${search}`))
    await figure(page, 'Invocations').locator('[data-value]').waitFor()
    return page
  }

  test('skills', async () => {
    const page = await pageWithout((query) => query.get('group_by') === 'skill')
    await page.getByRole('article', { name: 'Newly failing' }).getByText('Could not load').waitFor()
    const dead = page.getByRole('article', { name: 'Unused skills' })
    await dead.getByText('Could not load').waitFor()
    await page.unrouteAll()
    await dead.getByRole('button', { name: 'Try again' }).click()
    await dead.getByRole('link', { name: 'hr.policy-answer' }).waitFor()
  })

  test('people, and the period before', async () => {
    const page = await pageWithout(
      (query) => query.get('group_by') === 'user' || Date.parse(query.get('to') ?? '') === Date.parse(from),
    )
    await page.getByText('Could not load some metrics').waitFor()
    expect(await value(page, 'Active users')).toBe('—')
    expect(await figure(page, 'Invocations').textContent()).toContain('previous period: not known')
    await page.unrouteAll()
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
    await figure(page, 'Invocations')
      .getByText(/from \d/)
      .waitFor()
    await expect.poll(() => value(page, 'Active users')).toMatch(/^\d+$/)
  })

  test('the second dimension of the breakdown', async () => {
    const page = await pageWithout((query) => query.get('group_by') === 'platform', '&across=platform')
    await breakdown(page).getByText('Could not load').first().waitFor()
  })

  test('a range of a link that is none', async () => {
    const page = await lab.signInAs('analyst', `/?range=custom&from=${to}&to=${from}&live=off`)
    await page.getByText('The range of this link does not end after it begins').waitFor()
  })
})

test('costs of a range are judged by when events happened, also where they were stored later', async () => {
  const { totals } = await summary()
  expect(totals.unpriced).toBeGreaterThan(0)
  const page = await lab.signInAs('analyst', still)
  const costs = page.getByRole('article', { name: 'Cost exceptions' })
  await costs.getByText(`${count(totals.unpriced)} events have no price`).waitFor()
  expect(await costs.getByRole('listitem').count()).toBeGreaterThan(0)
  expect(await costs.getByText('Every event').count()).toBe(0)
})

test('a range of the reader’s own is chosen in the calendar', async () => {
  const page = await lab.signInAs('analyst', still)
  await page.getByRole('button', { name: 'Custom' }).click()
  await page.getByLabel('From', { exact: true }).fill('09:20')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.waitForURL((url) => url.searchParams.get('from') !== from)
  const chosen = new URL(page.url()).searchParams.get('from') ?? ''
  // Widened to the quarter: 09:15 by the clock of the reader.
  expect(
    new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'Europe/Berlin' }).format(new Date(chosen)),
  ).toBe('09:15')
})

test('nothing scrolls sideways on a phone', async () => {
  const page = await lab.signInAs('admin', still, { viewport: { width: 390, height: 800 } })
  await bodyRows(breakdown(page)).first().waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})

test('a view is saved, shared, found changed, updated, and deleted', async () => {
  const page = await lab.signInAs('analyst', `${still}&group_by=model`)
  const views = async () => (await lab.hub.call('acme', 'GET', '/api/v1/views?page=command-center')).body.items
  const menu = (name: string) => page.getByRole('button', { name }).click()
  await menu('Views')
  await page.getByRole('menuitem', { name: 'Save as a new view …' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('A view needs a name.').waitFor()
  await dialog.getByLabel('Name').fill('Models, ten days')
  await dialog.getByRole('switch', { name: /Share/ }).check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL(/view=view_/)
  const [stored] = await views()
  expect([stored.name, stored.shared]).toEqual(['Models, ten days', true])
  expect(new URLSearchParams(stored.query).get('group_by')).toBe('model')

  await choose(breakdown(page), 'Platform')
  await page.getByRole('button', { name: 'Models, ten days changed' }).click()
  await page.getByRole('menuitem', { name: 'Update “Models, ten days”' }).click()
  await page.getByText('“Models, ten days” is saved.').waitFor()
  expect(new URLSearchParams((await views())[0].query).get('group_by')).toBe('platform')

  // Somebody else finds it among the shared ones, and may not change it.
  const other = await lab.signInAs('member', '/?live=off')
  await other.getByRole('button', { name: 'Views' }).click()
  await other.getByRole('menuitem', { name: 'Models, ten days' }).click()
  await other.waitForURL(/group_by=platform/)
  await other.getByRole('button', { name: 'Models, ten days' }).click()
  await other.getByRole('menuitem', { name: 'Save as a new view …' }).waitFor()
  expect(await other.getByRole('menuitem', { name: 'Delete …' }).count()).toBe(0)

  await page.getByRole('button', { name: 'Models, ten days' }).click()
  await page.getByRole('menuitem', { name: 'Delete …' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL((url) => !url.searchParams.has('view'))
  expect(await views()).toEqual([])
})
