import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { verifyWebhook } from '../../../sdk/typescript/src/webhooks/verify-webhook-node.ts'
import { expectAccessible, expectNoSidewaysScroll, startUiLab, type UiLab } from '../../browser/ui-lab.ts'
import { answer, take } from '../../webhooks/receiver-behaviours.ts'

let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 100 })
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name })
const button = (within: Pick<Page, 'getByRole'>, name: string) => within.getByRole('button', { name, exact: true })
const idOf = (page: Page) => new URL(page.url()).pathname.split('/').at(-1) ?? ''
const read = async (path: string) => (await lab.hub.call('acme', 'GET', `/api/v1/webhooks${path}`)).body

/** An endpoint of a receiver of its own. */
async function addEndpoint(path: string, description: string) {
  const receiving = lab.world.outside.webhooks.at(path)
  const body = { url: receiving.url, events: ['user.*'], description }
  const { webhook_id, secret } = (await lab.hub.call('acme', 'POST', '/api/v1/webhooks', { body })).body
  receiving.secrets = [secret]
  return { receiving, webhookId: webhook_id as string, secret: secret as string }
}

test('an endpoint is added with a secret that is shown once, and tested', async () => {
  const receiving = lab.world.outside.webhooks.at('/of-the-pages')
  const page = await lab.signInAs('admin', '/webhooks')

  // What is wrong is said at its field, and nothing that was typed is lost.
  await button(page, 'Add endpoint').click()
  const form = dialog(page, 'Add endpoint')
  await form.getByLabel('Address').fill('http://10.0.0.1/private')
  await button(form, 'Add endpoint').click()
  await form.getByText('Choose at least one event, or add an alert rule').waitFor()
  await form.getByLabel('user.provisioned').check()
  await form.getByLabel('skill.latency_exceeded').check()
  await form.getByLabel('Took longer than, in ms').fill('12000')
  await button(form, 'Add endpoint').click()
  await form
    .getByText(/10\.0\.0\.1/)
    .first()
    .waitFor()
  expect(await form.getByLabel('user.provisioned').isChecked()).toBe(true)
  await form.getByLabel('Address').fill(receiving.url)
  await form.getByLabel('Description').fill('Made in the browser')
  await button(form, 'Add endpoint').click()

  // The secret is shown once.
  const once = dialog(page, 'The endpoint’s secret')
  const secret = (await once.locator('code', { hasText: /^whsec_/ }).textContent()) ?? ''
  expect(await button(once, 'Done').isDisabled()).toBe(true)
  await once.getByText('verifyWebhook({').waitFor()
  await once.getByRole('checkbox').check()
  await button(once, 'Done').click()
  await heading(page, 'Made in the browser').waitFor()
  expect(await page.content()).not.toContain(secret)
  const webhookId = idOf(page)
  expect(await read(`/${webhookId}`)).toMatchObject({
    ...{
      url: receiving.url,
      events: ['user.provisioned', 'skill.latency_exceeded'],
      thresholds: { latency_ms: 12_000 },
    },
  })

  // Live test.
  receiving.secrets = [secret]
  await button(page, 'Live test').click()
  const trial = dialog(page, 'Live test')
  await button(trial, 'Send test message').click()
  await trial.getByText('The receiver took it').waitFor()
  await trial.getByText('x-service-signature').waitFor()
  await trial.getByText('"kind": "webhook.test"').waitFor()
  receiving.behaviour = answer(503, {}, 'down for maintenance')
  await button(trial, 'Send another').click()
  await trial.getByText('The receiver did not take it').waitFor()
  await trial.getByText('down for maintenance').waitFor()
  await page.keyboard.press('Escape')
  await trial.waitFor({ state: 'detached' })
  expect(receiving.faults).toEqual([])
})

test('a delivery that failed is found by its status, looked into and sent again', async () => {
  const { receiving, webhookId } = await addEndpoint('/failing', 'Fails at first')
  receiving.behaviour = answer(503, {}, 'down for maintenance')
  await lab.hub.call('acme', 'POST', `/api/v1/webhooks/${webhookId}:test`, { body: {} })
  await expect.poll(async () => (await read(`/${webhookId}/deliveries`)).items[0].status).toBe('dead')
  const page = await lab.signInAs('admin', `/webhooks/${webhookId}`)
  await page.getByRole('combobox', { name: 'Status' }).click()
  await page.getByRole('option', { name: 'Failed permanently', exact: true }).click()
  await page.waitForURL(/status=dead/)
  receiving.behaviour = take
  const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('row', { name: /webhook\.test/ })
  await row.focus()
  await page.keyboard.press('Enter')
  const drawer = dialog(page, 'webhook.test')
  await drawer.getByText('Attempt 1: 503').waitFor()
  await expectAccessible(page)
  await button(drawer, 'Redeliver').click()
  await drawer.getByText('Attempt 2: 200').waitFor()
  const deliveryId = new URL(page.url()).searchParams.get('delivery')
  expect(await read(`/${webhookId}/deliveries/${deliveryId}`)).toMatchObject({ status: 'delivered', attempt_count: 2 })
  await page.keyboard.press('Escape')
  await page.waitForURL((url) => !url.searchParams.has('delivery'))
})

test('a secret is rotated step by step, and either one verifies until the former ends', async () => {
  const { receiving, webhookId, secret } = await addEndpoint('/rotated', 'To be rotated')
  const page = await lab.signInAs('admin', `/webhooks/${webhookId}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Rotate secret' }).click()
  const walk = dialog(page, 'Rotate the secret')
  // Closing it while the secret is being made would lose the secret.
  const rotation = /:rotate-secret$/
  let makeIt = () => {}
  const asked = new Promise<void>((resolve) => {
    makeIt = resolve
  })
  await page.route(rotation, async (route) => {
    await asked
    await route.continue()
  })
  const sent = page.waitForRequest(rotation)
  await button(walk, 'Make the new secret').click()
  await sent
  await page.keyboard.press('Escape')
  expect(await button(walk, 'Cancel').isDisabled()).toBe(true)
  makeIt()
  const next = (await walk.locator('code', { hasText: /^whsec_/ }).textContent()) ?? ''
  await page.keyboard.press('Escape')
  expect(await button(walk, 'Next').isDisabled()).toBe(true)
  await walk.getByRole('checkbox').check()
  await button(walk, 'Next').click()
  expect(await page.content()).not.toContain(next)
  await button(walk, 'The receiver has it').click()
  receiving.secrets = [secret, next]
  await button(walk, 'Send test message').click()
  await button(walk, 'Go on').click()
  await walk.getByText('The new secret is in use').waitFor()
  await button(walk, 'Done').click()
  const last = receiving.received.at(-1)
  if (!last) throw new Error('nothing came in')
  expect(last).toMatchObject({ signatures: 2, signedBy: [0, 1] })
  for (const one of [secret, next]) {
    expect(verifyWebhook({ body: last.raw, headers: last.headers, secret: one }).kind).toBe('webhook.test')
  }
  await page.getByText('Messages have two signatures').waitFor()
  expect(receiving.faults).toEqual([])
})

test('an endpoint is changed, disabled, enabled and removed', async () => {
  const made = await lab.hub.call('acme', 'POST', '/api/v1/webhooks', {
    body: { url: lab.world.outside.webhooks.at('/changed').url, events: ['user.*'], description: 'To be changed' },
  })
  const { webhook_id: id } = made.body
  const page = await lab.signInAs('admin', `/webhooks/${id}`)
  await button(page, 'Edit').click()
  const form = dialog(page, 'Edit endpoint')
  await form.getByLabel('Governance: everything (governance.*)').check()
  await form.getByLabel('Description').fill('')
  await button(form, 'Add rule').click()
  await form.getByLabel('Window in minutes').fill('20')
  await button(form, 'Save changes').click()
  await form.getByText(/quarters of an hour: 15/).waitFor()
  await form.getByLabel('Window in minutes').fill('30')
  await button(form, 'Save changes').click()
  await form.waitFor({ state: 'detached' })
  const changed = await read(`/${id}`)
  expect(changed).toMatchObject({
    events: ['user.*', 'governance.*'],
    alerts: [{ metric: 'error_rate', group_by: 'skill', above: 0.2, window_minutes: 30 }],
  })
  expect(changed.description).toBeUndefined()

  for (const action of ['Disable', 'Enable']) {
    await button(page, 'More actions').click()
    await page.getByRole('menuitem', { name: action }).click()
    await button(dialog(page, `${action} this endpoint?`), action).click()
    await dialog(page, `${action} this endpoint?`).waitFor({ state: 'detached' })
    expect((await read(`/${id}`)).enabled).toBe(action === 'Enable')
  }
  await button(page, 'More actions').click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await button(dialog(page, 'Remove this endpoint?'), 'Remove endpoint').click()
  await page.waitForURL(lab.address('/webhooks'))
  expect((await lab.hub.call('acme', 'GET', `/api/v1/webhooks/${id}`)).status).toBe(404)
})

test('several deliveries are sent again, after saying how many', async () => {
  const id = lab.world.webhooks.mixed
  const receiving = lab.world.outside.webhooks.at('/alerts')
  const before = receiving.received.length
  const page = await lab.signInAs('admin', `/webhooks/${id}?from=2020-01-01T00:00:00.000Z`)
  const { items } = await read(`/${id}/deliveries?status=dead&limit=1000`)
  expect(items.length).toBeGreaterThan(0)
  await button(page, 'Redeliver several').click()
  const ask = dialog(page, 'Redeliver several')
  await ask.getByRole('combobox', { name: 'Which' }).click()
  await page.getByRole('option', { name: 'Failed permanently', exact: true }).click()
  await ask.getByText(`${items.length} messages will be sent again`).waitFor()
  await button(ask, 'Redeliver').click()
  await page.getByText(`${items.length} deliveries are queued again.`).waitFor()
  await receiving.count(before + items.length)
})

test('the pages fit a phone, can be used by everyone, and are for administrators', async () => {
  const page = await lab.signInAs('admin', '/webhooks', { viewport: { width: 390, height: 800 } })
  await page.getByRole('table', { name: 'Endpoints' }).waitFor()
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)
  await page.goto(lab.address(`/webhooks/${lab.world.webhooks.mixed}`))
  await page.getByRole('table', { name: 'Deliveries' }).waitFor()
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)

  const auditor = await lab.signInAs('auditor', '/webhooks')
  await auditor.getByText('You do not have access to this page').waitFor()
  expect(await auditor.getByRole('link', { name: 'Integrations' }).count()).toBe(0)

  const context = await lab.profileOf('admin', { tenant: 'globex' })
  const empty = await context.newPage()
  await empty.goto(lab.address('/webhooks'))
  await empty.getByText('No endpoints yet').waitFor()
})
