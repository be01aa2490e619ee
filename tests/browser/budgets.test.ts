import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible, expectNoSidewaysScroll, startUiLab, type UiLab } from './ui-lab.ts'

let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 200 })
})
afterAll(() => lab.stop())

test('a budget is set in three clicks, shows what is spent, and is changed and removed', async () => {
  const page = await lab.signInAs('admin')
  await page.getByRole('link', { name: 'Budgets' }).click()
  await page.getByText('No budgets yet').waitFor()
  await page.getByRole('button', { name: 'Add budget' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Amount for each period').fill('0.5')
  await form.getByRole('button', { name: 'Add budget' }).click()
  const card = page.getByRole('region', { name: 'All usage' })
  await card.getByText(/of \$0\.50/).waitFor()
  await card.locator('.recharts-surface').first().waitFor()
  await card.getByText('Forecast', { exact: true }).waitFor()
  const { items } = (await lab.hub.call('acme', 'GET', '/api/v1/budgets')).body
  expect(items).toMatchObject([{ name: 'All usage', period: 'month', amount_usd: 0.5, thresholds: [50, 80, 100] }])
  for (const [width, dark] of [
    [1280, false],
    [390, true],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' })
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
  }
  await card.getByRole('button', { name: 'Actions for All usage' }).click()
  await page.getByRole('menuitem', { name: 'Change' }).click()
  await form.getByLabel('Name').fill('Everything')
  // Only the Hub suggests models.
  const { items: models } = (await lab.hub.call('acme', 'GET', '/api/v1/suggest?q=a&kind=model')).body
  const model = form.getByLabel('Model').and(page.locator('input'))
  await model.pressSequentially(models[0].id.slice(1, 7))
  await page.getByRole('option', { name: models[0].id, exact: true }).click()
  expect(await model.inputValue()).toBe(models[0].id)
  await expectAccessible(page)
  await form.getByRole('button', { name: 'Save changes' }).click()
  const changed = page.getByRole('region', { name: 'Everything' })
  await changed.getByRole('button', { name: 'Actions for Everything' }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove budget' }).click()
  await page.getByText('No budgets yet').waitFor()
  expect(lab.complaints).toEqual([])
})

test('alert rules of all endpoints are added and changed beside the budgets', async () => {
  const page = await lab.signInAs('admin', '/budgets')
  await page.getByRole('navigation', { name: 'Budgets' }).getByRole('link', { name: 'Alert rules' }).click()
  const table = page.getByRole('table', { name: 'Alert rules' })
  await table.getByText('25%').waitFor()
  const body = { url: 'https://hooks.slack.com/services/T0/B0/x', events: ['budget.*'], format: 'slack' }
  const { webhook_id } = (await lab.hub.call('acme', 'POST', '/api/v1/webhooks', { body })).body
  await page.reload()
  await page.getByRole('button', { name: 'Add rule' }).click()
  await page.getByRole('menuitem', { name: /hooks\.slack\.com/ }).click()
  const form = page.getByRole('dialog', { name: 'Alert rules of the endpoint' })
  await form.getByLabel('Trigger above').fill('0.1')
  await expectAccessible(page)
  await form.getByRole('button', { name: 'Save rules' }).click()
  await table.getByText('10%').waitFor()
  const read = async () => (await lab.hub.call('acme', 'GET', `/api/v1/webhooks/${webhook_id}`)).body
  expect(await read()).toMatchObject({ ...body, alerts: [{ metric: 'error_rate', above: 0.1 }] })
  for (const [width, dark] of [
    [1440, false],
    [390, true],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' })
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
  }
  await table.getByText('10%').click()
  await form.getByRole('button', { name: 'Remove rule 1' }).click()
  await form.getByRole('button', { name: 'Save rules' }).click()
  await table.getByText('10%').waitFor({ state: 'detached' })
  expect(await read()).not.toHaveProperty('alerts')
  expect(lab.complaints).toEqual([])
})

test('without an endpoint the page of alert rules leads to one', async () => {
  const page = await (await lab.profileOf('admin', { tenant: 'globex' })).newPage()
  await page.goto(lab.address('/budgets/alerts'))
  await page.getByText('No alert rules yet').waitFor()
  await page.getByRole('link', { name: 'Add endpoint' }).click()
  const form = page.getByRole('dialog', { name: 'Add endpoint' })
  await form.getByLabel('Address').fill('https://hooks.slack.com/services/T0/B0/x')
  expect(await form.getByRole('combobox', { name: 'Format' }).inputValue()).toBe('Slack (incoming webhook)')
  expect(lab.complaints).toEqual([])
})

test('a reader of telemetry sees budgets and changes none', async () => {
  const body = { name: 'Own', period: 'day', amount_usd: 1 }
  expect((await lab.hub.call('acme', 'POST', '/api/v1/budgets', { body })).status).toBe(201)
  const page = await lab.signInAs('member', '/budgets')
  await page.getByRole('region', { name: 'Own' }).waitFor()
  expect(await page.getByRole('button', { name: /Add budget|Actions for/ }).count()).toBe(0)
  expect(lab.complaints).toEqual([])
})
