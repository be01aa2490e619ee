import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { notify } from '../api/notification-cases.ts'
import { expectAccessible, expectNoSidewaysScroll, startUiLab, type UiLab } from './ui-lab.ts'

let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 20 })
  const details = { name: 'Support', threshold: 80, amount_usd: 100, spent_usd: 81 }
  await notify(lab.hub, 'webhook.disabled', 'webhook:whk_1', { reason: 'failing' })
  const alert = {
    metric: 'error_rate',
    group_by: 'skill',
    key: 'sum-up',
    value: 0.31,
    threshold: 0.2,
    window_minutes: 60,
  }
  // Two endpoints with the same rule: one line of the list.
  for (const endpoint of ['webhook:whk_1', 'webhook:whk_2']) await notify(lab.hub, 'alert.opened', endpoint, alert)
  await notify(lab.hub, 'budget.threshold_reached', 'budget:bud_1', details)
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

test('the bell counts what is unread, leads to the object, and keeps what one person has read', async () => {
  const page = await lab.signInAs('auditor', '/records')
  const bell = page.getByRole('button', { name: /^Notifications/ })
  await page.getByRole('button', { name: /^Notifications, \d+ unread$/ }).click()
  const list = page.getByRole('dialog', { name: 'Notifications' })
  await list.getByRole('link', { name: 'Budget threshold reached' }).first().waitFor()
  await list.getByText('80% of $100').first().waitFor()
  await list.getByRole('link', { name: 'Alert opened' }).waitFor()
  await list.getByText('Error rate 31%, above 20%').waitFor()
  await expectAccessible(page, 'notifications')
  await list.getByRole('button', { name: 'Mark all as read' }).click()
  await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor()
  await list.getByRole('link', { name: 'Budget threshold reached' }).first().click()
  await page.waitForURL(/\/budgets/)
  await page.reload()
  await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor()

  const other = await lab.signInAs('admin', '/records', { viewport: { width: 390, height: 800 } })
  await other.getByRole('button', { name: /^Notifications, \d+ unread$/ }).click()
  await other.getByRole('link', { name: 'Webhook endpoint disabled' }).first().waitFor()
  await expectAccessible(other, 'notifications on a phone')
  await expectNoSidewaysScroll(other)
  expect(await bell.count()).toBe(1)
})

test('who may not read governance events has no bell', async () => {
  const page = await lab.signInAs('member', '/records')
  await page.getByRole('button', { name: 'Your account' }).waitFor()
  await page.getByRole('heading', { level: 1, name: 'Records' }).waitFor()
  expect(await page.getByRole('button', { name: /^Notifications/ }).count()).toBe(0)
})
