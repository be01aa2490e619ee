import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { log, logs } from '../otlp/otlp-bodies.ts'
import { send } from '../otlp/otlp-lab.ts'
import { expectAccessible, startUiLab, type UiLab } from './ui-lab.ts'
import { sendLately } from './world/telemetry.ts'

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
const count = (number: number) => new Intl.NumberFormat('en-GB').format(number)

describe('figures', () => {
  test('are those of the summary, beside those of the period before', async () => {
    const page = await lab.signInAs('analyst', still)
    const { totals } = await summary()
    expect(await value(page, 'Invocations')).toBe(count(totals.invocations))
    expect(await value(page, 'Reported cost')).toBe(`$${totals.cost_usd_estimate.toFixed(2)}`)
    expect(await value(page, 'Calculated cost')).toBe(`$${totals.cost_usd_computed.toFixed(2)}`)
    const reconciled = await lab.hub.call('acme', 'GET', `/api/v1/telemetry/reconciliation?from=${from}&to=${to}`)
    expect(await value(page, 'Difference')).toBe(`$${reconciled.body.totals.variance_usd.toFixed(2)}`)
    const before = `from=${new Date(Date.parse(from) - 10 * 86_400_000).toISOString()}&to=${from}`
    const earlier = (await lab.hub.call('acme', 'GET', `/api/v1/telemetry/summary?${before}`)).body.totals
    await figure(page, 'Invocations')
      .getByText(`from ${count(earlier.invocations)}`)
      .waitFor()
    await page.getByText('Europe/Berlin').waitFor()
  })
})

describe('the charts', () => {
  const cost = (page: Page) => page.getByRole('region', { name: 'Cost', exact: true })

  test('divide the cost by model on request, as the address says', async () => {
    const page = await lab.signInAs('analyst', still)
    await cost(page).getByText('Model', { exact: true }).click()
    await page.waitForURL((url) => url.searchParams.get('split') === 'model')
    await cost(page).getByText('Table', { exact: true }).click()
    const { rows } = await summary('&group_by=model')
    const [most] = rows.toSorted(
      (one: { cost_usd_estimate: number }, other: { cost_usd_estimate: number }) =>
        other.cost_usd_estimate - one.cost_usd_estimate,
    )
    const headers = await cost(page).getByRole('columnheader').allTextContents()
    expect(headers[1]).toBe(most.key)
    await cost(page).getByText('Chart', { exact: true }).click()
    await cost(page).locator('.recharts-bar').first().waitFor()
    await expectAccessible(page, 'the cost by model')
  })

  test('zoom into the range that is dragged over', async () => {
    const page = await lab.signInAs('analyst', still)
    const chart = page.getByRole('region', { name: 'Invocations and failures' }).locator('.recharts-surface').first()
    await chart.scrollIntoViewIfNeeded()
    const box = (await chart.boundingBox())!
    const middle = box.y + box.height / 3
    await page.mouse.move(box.x + box.width * 0.4, middle)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.6, middle, { steps: 5 })
    await page.mouse.up()
    await page.waitForURL(
      (url) => (url.searchParams.get('from') ?? '') > from && (url.searchParams.get('to') ?? '') < to,
    )
  })
})

test('any range is compared with another one, and months have a name', async () => {
  const compared = `compare_from=${new Date(Date.parse(from) - 20 * 86_400_000).toISOString()}&compare_to=${from}`
  const page = await lab.signInAs('analyst', `${still}&${compared}`)
  await page.getByText('another range').waitFor()
  const earlier = (
    await lab.hub.call('acme', 'GET', `/api/v1/telemetry/summary?${compared.replaceAll('compare_', '')}`)
  ).body
  await figure(page, 'Invocations')
    .getByText(`from ${count(earlier.totals.invocations)}`)
    .waitFor()
  await figure(page, 'Invocations').locator('svg path').nth(1).waitFor({ state: 'attached' })

  // The other range is a line in the charts, with its own date in the tooltip, and a column of their tables.
  const usage = page.getByRole('region', { name: 'Invocations and failures' })
  await usage.getByText('Previous period', { exact: true }).waitFor()
  await usage.locator('.recharts-line path').waitFor({ state: 'attached' })
  await usage.locator('.recharts-surface').first().hover()
  await usage.getByText(/^Previous period \(.+\)$/).waitFor()
  await usage.getByText('Table', { exact: true }).click()
  await usage.getByRole('columnheader', { name: 'Previous period' }).waitFor()

  await page.getByRole('button', { name: 'Compared range' }).click()
  await page.getByRole('button', { name: 'Previous period' }).click()
  await page.waitForURL((url) => !url.searchParams.has('compare_from'))
  await page.getByRole('button', { name: 'Custom' }).click()
  await page.getByRole('button', { name: 'Last month' }).click()
  await page.waitForURL((url) => url.searchParams.get('range') === 'last-month')
  await page.getByRole('button', { name: 'Last month' }).waitFor()
})

describe('the breakdown', () => {
  const mostUsed = async () =>
    (await summary('&group_by=skill')).rows.toSorted(
      (one: { invocations: number }, other: { invocations: number }) => other.invocations - one.invocations,
    )[0]

  test('drills down by keyboard, to the next dimension', async () => {
    const page = await lab.signInAs('analyst', still)
    const most = await mostUsed()
    const first = bodyRows(breakdown(page)).first()
    await first.getByText(most.key).waitFor()
    await first.focus()
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.searchParams.get('skill_id') === most.key)
    await page.getByText(`Skill: ${most.key}`).waitFor()
    await page.getByRole('radio', { name: 'Archetype', checked: true }).waitFor({ state: 'attached' })
    // The row is gone: the keyboard goes on at the head of the breakdown, which stayed where it was.
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Breakdown')
    await figure(page, 'Invocations').getByText(count(most.invocations), { exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.get('group_by')).toBe('archetype')
  })

  test('is where its address says; a chip takes it back', async () => {
    const most = await mostUsed()
    const page = await lab.signInAs('analyst', `${still}&group_by=archetype&skill_id=${most.key}`)
    await figure(page, 'Invocations').getByText(count(most.invocations), { exact: true }).waitFor()
    const records = await page.getByRole('link', { name: 'Show records' }).getAttribute('href')
    expect(new URLSearchParams(records?.split('?')[1]).get('skill_id')).toBe(most.key)
    await page.getByRole('button', { name: `Remove filter Skill ${most.key}` }).click()
    await page.getByRole('heading', { name: 'Overview' }).and(page.locator(':focus')).waitFor()
    const { totals } = await summary()
    await figure(page, 'Invocations').getByText(count(totals.invocations), { exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.has('skill_id')).toBe(false)
  })
})

describe('live', () => {
  test('an event is there by itself, and does not move what somebody reads', async () => {
    const page = await lab.signInAs('analyst', '/?range=24h')
    const list = page.getByRole('region', { name: 'Live events' })
    const first = () => bodyRows(list).first().getByRole('link').first().getAttribute('href')
    await bodyRows(list).first().waitFor()
    const known = await first()
    await sendLately(lab.hub, 1)
    const { records } = (await newestEvents()).body
    await list.locator(`a[href="/records/${records[0].record_id}"]`).waitFor()
    expect(await first()).not.toBe(known)

    await list.getByRole('button', { name: 'Pause' }).click()
    const held = await first()
    await sendLately(lab.hub, 2)
    await list.getByText('Paused: 2 new').waitFor()
    expect(await first()).toBe(held)
    await list.getByRole('button', { name: 'Continue' }).click()
    const newest = (await newestEvents()).body.records[0].record_id
    await list.locator(`a[href="/records/${newest}"]`).waitFor()
    expect(await first()).toBe(`/records/${newest}`)
  })

  const newestEvents = () =>
    lab.hub.call('acme', 'GET', '/api/v1/hub/records?record_type=telemetry_event&sort=-created_at&limit=1')
})

describe('the page of a skill, a person, a model or an archetype', () => {
  const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
  const card = (page: Page, name: string) => page.getByRole('article', { name, exact: true })

  test('has the metrics of the skill, its error codes, versions and grants, and leads to its people', async () => {
    const { rows } = await summary('&group_by=skill')
    const [failing] = rows.toSorted(
      (one: { failures: number }, other: { failures: number }) => other.failures - one.failures,
    )
    const page = await lab.signInAs('admin', still)
    await breakdown(page).getByRole('link', { name: failing.key, exact: true }).click()
    await page.waitForURL(`**/usage/skills/${failing.key}`)
    await page.goto(lab.address(`/usage/skills/${failing.key}?${tenDays}`))
    await figure(page, 'Invocations').getByText(count(failing.invocations), { exact: true }).waitFor()

    const codes = (await summary(`&skill_id=${failing.key}&group_by=error_code`)).rows
    const [most] = codes.toSorted(
      (one: { failures: number }, other: { failures: number }) => other.failures - one.failures,
    )
    const code = card(page, 'Error codes').getByRole('link').first()
    expect(await code.textContent()).toBe(most.key)
    const href = new URLSearchParams((await code.getAttribute('href'))?.split('?')[1])
    expect([href.get('skill_id'), href.get('error_code'), href.get('success')]).toEqual([
      failing.key,
      most.key,
      'false',
    ])

    const { items } = (await lab.hub.call('acme', 'GET', `/api/v1/skill-entitlement/grants?skill_id=${failing.key}`))
      .body
    const grants = section(page, 'Who may use it')
    await grants.getByRole('link', { name: items[0].archetype_id, exact: true }).waitFor()
    await section(page, 'State and versions').getByText('Published').waitFor()

    await card(page, 'Users').getByRole('link').first().click()
    await page.waitForURL('**/usage/people/user%3A*')
    await section(page, 'Person').getByText('E-mail').or(section(page, 'Person').getByText('Address')).first().waitFor()
    await expectAccessible(page, 'the page of a person')
  })

  test('does not tell an analyst whose id is in a record', async () => {
    const people = (await lab.hub.call('acme', 'GET', '/api/v1/roster/users?limit=1')).body.items
    const page = await lab.signInAs('analyst', `/usage/people/${people[0].user_id}`)
    await page.getByText('your role may not see whose id this is').waitFor()
    expect(await page.textContent('main')).not.toContain(people[0].email)
  })

  test('offers the last range with events if the chosen one has none', async () => {
    const { rows } = await summary('&group_by=skill')
    const long = 'range=custom&from=2020-01-01T00:00:00Z&to=2020-01-08T00:00:00Z'
    const page = await lab.signInAs('analyst', `/usage/skills/${rows[0].key}?${long}`)
    await page.getByRole('heading', { name: 'No events in this range' }).waitFor()
    await page.getByRole('button', { name: /^Show / }).click()
    await figure(page, 'Invocations').waitFor()
  })

  test('says that there were no events', async () => {
    const page = await lab.signInAs('member', '/usage/models/no-such-model')
    await page.getByRole('heading', { name: 'No events in this range' }).waitFor()
    await expectAccessible(page, 'a model without events')
  })
})

test('a member sees it without what the role may not ask for', async () => {
  const page = await lab.signInAs('member', still)
  await page.getByRole('article', { name: 'No longer used' }).waitFor()
  expect(await page.getByRole('article', { name: 'Unused skills' }).count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Set prices' }).count()).toBe(0)
})

test('a tenant without telemetry is told what sends it', async () => {
  const page = await (await lab.profileOf('admin', { tenant: 'globex' })).newPage()
  await page.goto(lab.address('/'))
  await page.getByRole('heading', { name: 'No telemetry yet' }).waitFor()
  expect(await page.getByRole('link', { name: 'To the onboarding checklist' }).getAttribute('href')).toBe('/onboarding')

  // The quick start creates what an event names, and shows the event when it arrives.
  await page.getByText('Waiting for your first event…').waitFor()
  const snippet = page.getByRole('region', { name: 'Snippet for curl' })
  expect(await snippet.textContent()).toContain('X-Service-Tenant: globex')
  const creation = page.getByRole('button', { name: 'Create for the first event' })
  await creation.click()
  await creation.waitFor({ state: 'detached' })
  await page.getByRole('tab', { name: 'Claude Code' }).click()
  await page.getByText('Calls that name no skill count under the default skill first-skill.').waitFor()
  // Claude Code names neither a skill nor an archetype in a call.
  const call = {
    ...{ 'event.name': 'claude_code.api_request', 'user.email': 'kim@globex.example', 'session.id': 'first' },
    ...{ model: 'claude-sonnet-4-5', input_tokens: 10, output_tokens: 5, cost_usd: 0.01, duration_ms: 900 },
  }
  const sent = logs([log(call, { timeUnixNano: `${Date.now()}000000` })])
  expect(await send(lab.hub, sent, { tenant: 'globex' })).toMatchObject({ status: 200, body: {} })
  const { body } = await lab.hub.call('globex', 'GET', '/api/v1/hub/records?record_type=telemetry_event')
  expect(body.records).toMatchObject([{ skill_id: 'first-skill', archetype_id: 'everyone', session_id: 'first' }])
  await page.getByText('Your first event arrived.').waitFor()
  await page.getByRole('article', { name: 'Invocations' }).waitFor()
  await page.getByRole('link', { name: 'Open the record' }).click()
  await page.waitForURL(/\/records\/[0-9a-f-]{36}$/)
})
