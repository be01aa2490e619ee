import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { expectAccessible, startUiLab, type UiLab } from '../../browser/ui-lab.ts'
import { roleEmails } from '../../browser/world/fixtures.ts'

let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 100 })
  // The page shows the last days, in which nobody may have used a rare model.
  await sendUnpriced()
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name })
const button = (within: Pick<Page, 'getByRole'>, name: string) => within.getByRole('button', { name, exact: true })
const read = async (path: string) => (await lab.hub.call('acme', 'GET', path)).body

/** Sends an event of a model that has no price at first, and answers its record. */
async function sendUnpriced(): Promise<string> {
  const { records } = await read('/api/v1/hub/records?record_type=telemetry_event&limit=1')
  const { user_id, archetype_id, skill_id, skill_version } = records[0]
  const used = { user_id, archetype_id, skill_id, skill_version }
  const sent = await lab.hub.call('acme', 'POST', '/api/v1/telemetry/events', {
    body: {
      ...{ ...used, llm_platform: 'custom:handbook-bot', llm_model: 'acme-internal-7b' },
      ...{ ts: new Date().toISOString(), success: true, latency_ms: 900, tokens_in: 1000, tokens_out: 500 },
      cost_usd_estimate: 0.1,
    },
  })
  expect(sent.status).toBeLessThan(300)
  return sent.body.record_id
}

function tokenOf(clientId: string, secret: string): Promise<Response> {
  return fetch(lab.address('/api/v1/oauth/token'), {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
}

/** What the dialog shows once, which then is gone from the page. */
async function readOnce(page: Page, isNew = false): Promise<{ clientId: string; secret: string }> {
  const once = dialog(page, 'Client id and secret')
  const clientId = (await once.locator('code', { hasText: /^sa/ }).first().textContent()) ?? ''
  const secret = (await once.locator('code', { hasText: /^hubs/ }).textContent()) ?? ''
  if (isNew) await sendFirstEvent(once, clientId, secret)
  else await once.getByText(`"${clientId}:$CLIENT_SECRET"`).waitFor()
  await page.keyboard.press('Escape')
  await once.getByRole('checkbox').check()
  await button(once, 'Done').click()
  await once.waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain(secret)
  return { clientId, secret }
}

/** Runs what the quick start of a new account shows, and waits until the dialog shows the event. */
async function sendFirstEvent(once: Locator, clientId: string, secret: string): Promise<void> {
  await once.getByText('Waiting for your first event…').waitFor()
  const shown = (label: string) => once.getByRole('region', { name: `Snippet for ${label}` }).textContent()
  expect(await shown('curl')).toContain(`'${clientId}:${secret}'`)
  await once.getByRole('tab', { name: 'TypeScript' }).click()
  const script = (await shown('TypeScript')) ?? ''
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  await once.getByText('Your first event arrived.').waitFor()
  await expectAccessible(once.page())
  const link = await once.getByRole('link', { name: 'Open the record' }).getAttribute('href')
  const newest = await read(`/api/v1/hub/records?record_type=telemetry_event&created_by=${clientId}`)
  expect(link).toBe(`/records/${newest.records[0].record_id}`)
  // The event is the reader's own, not a colleague's.
  expect(newest.records[0].user_id).toBe(`user:${roleEmails.admin}`)
}

test('a service account is made, its secret shown once and rotated; then it is disabled', async () => {
  const page = await lab.signInAs('admin', '/settings/service-accounts')
  await button(page, 'Add service account').click()
  const form = dialog(page, 'Add service account')
  await button(form, 'Add service account').click()
  await form.getByText('Choose at least one').waitFor()
  await form.getByLabel('Name').fill('From the browser')
  await button(form, 'Send telemetry').click()
  await expectAccessible(page)
  await button(form, 'Add service account').click()
  const made = await readOnce(page, true)
  const granted = await tokenOf(made.clientId, made.secret)
  expect(await granted.json()).toMatchObject({ scope: 'telemetry:write' })

  const ask = async (item: string) => {
    await page.getByRole('button', { name: 'Actions for From the browser' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await ask('Rotate secret')
  await button(dialog(page, 'Rotate the secret of From the browser?'), 'Make a new secret').click()
  const rotated = await readOnce(page)
  expect(rotated.secret).not.toBe(made.secret)
  for (const { secret } of [made, rotated]) expect((await tokenOf(made.clientId, secret)).status).toBe(200)

  await ask('Disable')
  await button(dialog(page, 'Disable From the browser for good?'), 'Disable for good').click()
  await page.getByRole('row', { name: /From the browser.*Disabled/ }).waitFor()
  expect((await tokenOf(made.clientId, rotated.secret)).status).toBe(401)
})

test('a session that is ended here signs the other browser out', async () => {
  const other = await lab.signInAs('analyst', '/settings', { userAgent: 'Firefox/150.0 of the test' })
  const page = await lab.signInAs('analyst', '/settings')
  const sessions = page.getByRole('table', { name: 'Sessions' })
  await sessions.getByRole('row', { name: /This one/ }).waitFor()
  await sessions.getByRole('button', { name: /^End session of Firefox/ }).click()
  await button(dialog(page, 'End this session?'), 'End session').click()
  await sessions.getByRole('row', { name: /Firefox/ }).waitFor({ state: 'detached' })
  await other.reload()
  await other.waitForURL(lab.address('/sign-in?**'))

  // Who is no administrator sees themselves, and prices to read.
  await page.getByText('Read telemetry envelopes').waitFor()
  const tabs = page.getByRole('navigation', { name: 'Settings' })
  expect(await tabs.getByRole('link').allTextContents()).toEqual(['You', 'Prices'])
  await page.goto(lab.address('/settings/service-accounts'))
  await page.getByText('You do not have access to this page').waitFor()
  await page.goto(lab.address('/settings/prices'))
  await page.getByRole('table', { name: 'Own prices' }).waitFor()
  await page.getByText('acme-internal-7b').waitFor()
  expect(await page.getByRole('button', { name: /(add|change|edit|remove) .*price|recalculate/i }).count()).toBe(0)
})

test('a price that is added in the page is that of the next event', async () => {
  const page = await lab.signInAs('admin', '/settings/prices')
  const unpriced = page.getByRole('region', { name: 'Without a price' })
  await unpriced.getByText('acme-internal-7b').waitFor()
  await button(unpriced, 'Add price').first().click()
  const form = dialog(page, 'Add price')
  expect(await form.getByLabel('Model').inputValue()).toBe('acme-internal-7b')
  await button(form, 'Save price').click()
  await form.getByText('Say how much').first().waitFor()
  await form.getByLabel('Input, US dollars').fill('100')
  await form.getByLabel('Output, US dollars').fill('200')
  // Somebody else changes the list meanwhile: nothing of it is lost.
  const { prices } = await read('/api/v1/telemetry/prices')
  const theirs = {
    llm_model: 'of-somebody-else',
    input_usd_per_mtok: 1,
    output_usd_per_mtok: 2,
    effective_from: '2026-01-01T00:00:00Z',
  }
  await lab.hub.call('acme', 'PUT', '/api/v1/telemetry/prices', { body: { prices: [...prices, theirs] } })
  await button(form, 'Save price').click()
  await form.waitFor({ state: 'detached' })
  await page.getByRole('row', { name: /acme-internal-7b.*\$100\.00.*\$200\.00/ }).waitFor()
  const after = (await read('/api/v1/telemetry/prices')).prices
  expect(after.map((price: { llm_model: string }) => price.llm_model)).toEqual(
    expect.arrayContaining([
      ...prices.map((price: { llm_model: string }) => price.llm_model),
      'of-somebody-else',
      'acme-internal-7b',
    ]),
  )

  // A twin is told apart by nothing, and the page says which it is.
  await button(page, 'Add price').first().click()
  await form.getByLabel('Model').fill('acme-internal-7b')
  await form.getByLabel('Input, US dollars').fill('1')
  await form.getByLabel('Output, US dollars').fill('1')
  await button(form, 'Save price').click()
  await form.getByText(/There is a price of acme-internal-7b already/).waitFor()
  await button(form, 'Cancel').click()

  const record = await read(`/api/v1/hub/records/${await sendUnpriced()}`)
  expect(record.cost_usd_computed).toBe(0.2)
})

test('details that somebody else saved meanwhile are shown before they are replaced, and nothing typed is lost', async () => {
  const page = await lab.signInAs('admin', '/settings/tenant')
  const name = page.getByLabel('Name of the organisation')
  await name.fill('Acme, typed here')
  const others = { display_name: 'Acme, saved elsewhere', contact_email: 'it@acme.example' }
  await lab.hub.call('acme', 'PUT', '/api/v1/tenant', { body: others })
  await button(page, 'Save changes').click()
  await page.getByText('The name is now “Acme, saved elsewhere”').waitFor()
  expect(await read('/api/v1/tenant')).toMatchObject(others)
  expect(await name.inputValue()).toBe('Acme, typed here')
  await expectAccessible(page)
  await button(page, 'Save changes').click()
  await page.getByText('The details are saved.').waitFor()
  expect(await read('/api/v1/tenant')).toMatchObject({ ...others, display_name: 'Acme, typed here' })
  await expect.poll(() => page.getByText('Somebody changed the details').count()).toBe(0)
  expect(await name.inputValue()).toBe('Acme, typed here')
})
