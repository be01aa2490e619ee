import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { expectAccessible, expectNoSidewaysScroll, startUiLab, type UiLab } from '../../browser/ui-lab.ts'
import { roleEmails } from '../../browser/ui-world.ts'

let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 100 })
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name })
const button = (within: Pick<Page, 'getByRole'>, name: string) => within.getByRole('button', { name, exact: true })
const read = async (path: string) => (await lab.hub.call('acme', 'GET', path)).body

test('a person is added, given a role that holds, deactivated and let in again', async () => {
  const email = 'lee.park@acme.example'
  const page = await lab.signInAs('admin', '/settings/people')
  await button(page, 'Invite user').click()
  const form = dialog(page, 'Invite user')
  await form.getByLabel('E-mail address').fill(email)
  await form.getByLabel('Name').fill('Lee Park')
  await form.getByLabel('Do not invite').check()
  await button(form, 'Add user').click()
  await form.waitFor({ state: 'detached' })

  await page.getByLabel('Search').fill('lee.pa')
  await page.waitForURL(/search=lee\.pa/)
  const row = page.getByRole('row', { name: /Lee Park/ })
  await row.filter({ hasText: 'Member' }).waitFor()
  const ask = async (item: string) => {
    await page.getByRole('button', { name: `Actions for ${email}` }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  const logIn = () =>
    lab.browser
      .newContext()
      .then((context) =>
        context.request.post(lab.address('/api/v1/auth/mock-login'), { data: { email, tenant: 'acme' } }),
      )
  await ask('Change role')
  await dialog(page, 'Role of Lee Park').getByLabel('Auditor').check()
  await button(dialog(page, 'Role of Lee Park'), 'Change role').click()
  await row.filter({ hasText: 'Auditor' }).waitFor()
  const token = (await (await logIn()).json()).access_token
  const me = await fetch(lab.address('/api/v1/auth/me'), { headers: { authorization: `Bearer ${token}` } })
  expect(await me.json()).toMatchObject({ email, role: 'auditor' })

  await ask('Deactivate')
  await button(dialog(page, 'Deactivate Lee Park?'), 'Deactivate').click()
  await row.filter({ hasText: 'Deactivated' }).waitFor()
  expect((await logIn()).status()).toBe(401)
  await ask('Reactivate')
  await button(dialog(page, 'Reactivate Lee Park?'), 'Reactivate').click()
  await row.filter({ hasText: /Active/ }).waitFor()
  expect((await logIn()).status()).toBe(200)

  // The last administrator stays one, and the page says why.
  await page.goto(lab.address('/settings/people?role=admin'))
  await page.getByRole('button', { name: `Actions for ${roleEmails.admin}` }).click()
  await page.getByRole('menuitem', { name: 'Change role' }).click()
  const last = page.getByRole('dialog')
  await last.getByLabel('Member').check()
  await button(last, 'Change role').click()
  await last.getByText('This is the last administrator').waitFor()
})

test('the details of the tenant are changed, and the pages fit a phone', async () => {
  const page = await lab.signInAs('admin', '/settings/tenant', { viewport: { width: 390, height: 800 } })
  await page.getByLabel('Name of the organisation').fill('Acme of the browser')
  await button(page, 'Save changes').click()
  await page.getByText('The details are saved.').waitFor()
  expect(await read('/api/v1/tenant')).toMatchObject({ display_name: 'Acme of the browser' })
  for (const path of ['tenant', 'people', 'service-accounts', 'prices', '']) {
    await page.goto(lab.address(`/settings/${path}`).replace(/\/$/, ''))
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('table').first().waitFor()
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
  }
})
