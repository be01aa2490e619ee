import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { expectAccessible, startUiLab, type UiLab } from './ui-lab.ts'

let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 20 })
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
})

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

/** How often the window was loaded anew since this was called. */
function loadsOf(page: Page): () => number {
  let loads = 0
  page.on('load', () => {
    loads += 1
  })
  return () => loads
}

test('where somebody signs in to another tenant in one tab, the others begin anew there, and say so', async () => {
  const page = await lab.signInAs('admin', '/settings/tenant')
  await heading(page, 'Tenant').waitFor()
  const other = await page.context().newPage()
  await other.goto(lab.address('/sign-in?tenant=globex'))
  await other.fill('#mock-email', 'admin@globex.example')
  await other.click('#mock-sign-in')
  await heading(other, 'Overview').waitFor()
  await page.getByText('Somebody signed in to globex in another tab').waitFor()
  await page.getByRole('button', { name: 'Tenant globex. Change tenant' }).waitFor()
  expect(await page.locator('body').textContent()).not.toContain('acme')
})

const tokenPath = '**/api/v1/auth/token'
const tenantOf = (page: Page, name: string) => page.getByRole('button', { name: `Tenant ${name}. Change tenant` })

test('of tabs that are opened at once one asks for a token, and the others take it', async () => {
  const context = await lab.profileOf('analyst')
  const { promise: allAreOpen, resolve: open } = Promise.withResolvers<void>()
  let calls = 0
  await context.route(tokenPath, async (route) => {
    calls += 1
    await allAreOpen
    return route.continue()
  })
  const tabs = await Promise.all(Array.from({ length: 5 }, () => context.newPage()))
  for (const tab of tabs) {
    await tab.goto(lab.address('/settings/nowhere'))
    await tab.getByText('Looking for your session').waitFor()
  }
  expect(calls).toBe(1)
  open()
  for (const tab of tabs) await heading(tab, 'Page not found').waitFor()
  expect(calls).toBe(1)
})

test('a page that is opened takes no token that another tab renewed for somebody who was signed in before', async () => {
  const context = await lab.profileOf('admin')
  const { promise: renewal, resolve: renewing } = Promise.withResolvers<void>()
  const { promise: otherIsOpen, resolve: open } = Promise.withResolvers<void>()
  const asked: Page[] = []
  await context.route(tokenPath, async (route) => {
    const isRenewal = route.request().postData() !== null
    if (!isRenewal) asked.push(route.request().frame().page())
    if (!isRenewal && asked.length > 1) return route.continue()
    const response = await route.fetch()
    // The first is to be renewed at the next call.
    if (!isRenewal) return route.fulfill({ response, json: { ...(await response.json()), expires_in: 30 } })
    renewing()
    await otherIsOpen
    return route.fulfill({ response })
  })
  const page = await context.newPage()
  await page.goto(lab.address('/settings/nowhere'))
  await tenantOf(page, 'acme').waitFor()
  await page.getByRole('button', { name: 'Your account' }).click()
  await renewal
  const data = { email: 'admin@globex.example', tenant: 'globex' }
  expect((await context.request.post(lab.address('/api/v1/auth/mock-login'), { data })).status()).toBe(200)
  const other = await context.newPage()
  await other.goto(lab.address('/settings/nowhere'))
  await other.getByText('Looking for your session').waitFor()
  open()
  await heading(other, 'Page not found').waitFor()
  expect(await tenantOf(other, 'globex').isVisible()).toBe(true)
  expect(asked.filter((each) => each === other).length).toBe(1)
  await tenantOf(page, 'globex').waitFor()
})

test('signing out on the page of the session signs out the tabs of the UI', async () => {
  const page = await lab.signInAs('analyst')
  const other = await page.context().newPage()
  await other.goto(lab.address('/session'))
  await other.getByText('You are signed in.').waitFor()
  await other.click('#sign-out')
  await page.waitForURL(lab.address('/sign-in?**'))
})

test('without a connection a link leads to a page that says so, the way back is open, and it comes with the connection', async () => {
  const page = await lab.signInAs('admin', '/settings/tenant')
  await heading(page, 'Tenant').waitFor()
  const loads = loadsOf(page)
  await page.context().setOffline(true)
  await page.getByText('You are offline', { exact: true }).first().waitFor()
  await page.getByRole('link', { name: 'Exports' }).hover()
  await heading(page, 'Tenant').waitFor()
  await page.getByRole('link', { name: 'Exports' }).click()
  await page.getByText('This page could not be loaded').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('This page could not be loaded').waitFor()
  await page.goBack()
  await heading(page, 'Tenant').waitFor()
  expect(loads()).toBe(0)
  await page.getByRole('link', { name: 'Exports' }).click()
  await page.getByText('This page could not be loaded').waitFor()
  await page.context().setOffline(false)
  await heading(page, 'Exports').waitFor()
})

test('pointing at a link whose page is gone since an upgrade leaves what is typed alone', async () => {
  const page = await lab.signInAs('admin', '/settings/tenant')
  await heading(page, 'Tenant').waitFor()
  const name = page.getByLabel('Name of the organisation')
  await name.fill('Acme, renamed')
  const loads = loadsOf(page)
  await page.route('**/assets/exports-page-*.js', (route) => route.fulfill({ status: 404 }))
  const asked = page.waitForResponse('**/assets/exports-page-*.js')
  await page.getByRole('link', { name: 'Exports' }).hover()
  await asked
  expect(await name.inputValue()).toBe('Acme, renamed')
  expect(loads()).toBe(0)
})

test('Escape closes the dialog that lies over a panel, then the panel; and neither while a deed is under way', async () => {
  const page = await lab.signInAs('admin', '/records?record_type=artifact')
  await page.getByRole('row').nth(1).click()
  const panel = page.getByRole('dialog')
  await panel.getByRole('button', { name: /^Purge/ }).click()
  await page.getByRole('button', { name: 'Cancel' }).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(2)
  await page.keyboard.press('Escape')
  await expect.poll(() => page.getByRole('dialog').count()).toBe(1)
  expect(page.url()).toContain('open=')

  await panel.getByRole('button', { name: /^Purge/ }).click()
  await page.getByRole('textbox', { name: /reason/i }).fill('A copy')
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  await page.route('**/api/v1/hub/records/*', async (route) => {
    if (route.request().method() !== 'DELETE') return route.continue()
    await answered
    return route.fulfill({ status: 500, json: { title: 'Internal error', status: 500, detail: 'It broke.' } })
  })
  const dialog = page.getByRole('dialog').last()
  await dialog.getByRole('button', { name: /^Purge/ }).click()
  await expect.poll(() => dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  expect(await page.getByRole('dialog').count()).toBe(2)
  answer()
  await dialog.getByText('It broke.').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => page.getByRole('dialog').count()).toBe(1)
})

test('a form in which something was typed is not left by Escape without a word', async () => {
  const page = await lab.signInAs('admin', '/settings/people')
  await page.getByRole('button', { name: 'Invite user' }).click()
  const form = page.getByRole('dialog', { name: 'Invite user' })
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Invite user' }).click()
  await form.getByRole('textbox').first().fill('lou@acme.example')
  await page.keyboard.press('Escape')
  const question = page.getByRole('dialog', { name: 'Leave without saving?' })
  await question.getByRole('button', { name: 'Go on' }).click()
  await question.waitFor({ state: 'detached' })
  expect(await form.getByRole('textbox').first().inputValue()).toBe('lou@acme.example')
  await page.keyboard.press('Escape')
  await question.getByRole('button', { name: 'Discard' }).click()
  await form.waitFor({ state: 'detached' })
})

test('a dialog that an entry of a menu opened gives the focus back to the menu’s button', async () => {
  const page = await lab.signInAs('admin', '/settings/people')
  const actions = page.getByRole('button', { name: /^Actions for/ }).first()
  await actions.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Change role' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.locator(':focus').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await actions.and(page.locator(':focus')).waitFor()
})

test('Ctrl-K finds a page by its words before records by a skill of that name', async () => {
  const page = await lab.signInAs('admin')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search pages and records' }).fill('holds')
  await page.getByText('Legal holds').first().waitFor()
  await page.keyboard.press('Enter')
  await heading(page, 'Legal holds').waitFor()
})

test('a form leads to the first field that is refused; then people are invited, and an address is tested', async () => {
  const page = await lab.signInAs('admin', '/settings/people')
  await page.getByRole('button', { name: 'Invite user' }).click()
  const form = page.getByRole('dialog', { name: 'Invite user' })
  await form.getByRole('textbox').first().fill('nobody')
  await form.getByRole('button', { name: 'Invite user' }).click()
  await expect.poll(() => page.evaluate('document.activeElement.getAttribute("aria-invalid")')).toBe('true')
  // The tenant has single sign-on, so the invitation is an address that signs nobody in.
  await form.getByRole('textbox').first().fill('nia@acme.example')
  await form.getByRole('button', { name: 'Invite user' }).click()
  const invitation = page.getByRole('dialog', { name: 'Invitation' })
  await invitation.getByText('The address signs nobody in').waitFor()
  const link = () => invitation.locator('code').textContent()
  expect(await link()).toBe(lab.address('/sign-in?tenant=acme'))
  // The same page goes on in a tenant without: the link is shown once, a later one ends it, and it signs in.
  await page.goto(lab.address('/sign-in?tenant=globex&return_to=/settings/people%3Fadd%3D1'))
  await page.fill('#mock-email', 'admin@globex.example')
  await page.click('#mock-sign-in')
  await form.getByRole('textbox').first().fill('nia@globex.example')
  await form.getByRole('button', { name: 'Invite user' }).click()
  await invitation.getByText('Hand this link over to nia@globex.example.').waitFor()
  const first = await link()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await invitation.getByRole('button', { name: 'Copy link' }).press('Enter')
  await invitation.getByRole('status').getByText('Copied').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(first)
  await expectAccessible(page, 'an invitation with its link')
  await invitation.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Actions for nia@globex.example' }).click()
  await page.getByRole('menuitem', { name: 'Invite', exact: true }).click()
  const again = page.getByRole('dialog', { name: 'Invite nia@globex.example' })
  // This Hub has no mail server, so the form offers a link only.
  await again.getByText('This Hub has no mail server').waitFor()
  expect(await again.getByRole('radio').count()).toBe(1)
  await again.getByRole('button', { name: 'Invite user' }).click()
  await invitation.locator('code').waitFor()
  const second = await link()
  expect(second).toMatch(/\/invitation\/globex\/[\w-]{43}$/)
  expect(second).not.toBe(first)
  // An address is tested before an endpoint is saved, in words: nobody listens at the first, and the second is forbidden.
  await page.goto(lab.address('/webhooks?add=1'))
  const editor = page.getByRole('dialog')
  await editor.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:9/hub')
  await editor.getByRole('button', { name: 'Send test' }).click()
  await editor.getByText('No response after').waitFor()
  await expectAccessible(page, 'a failed test of an address in the editor')
  await editor.getByRole('textbox', { name: 'Address' }).fill('https://169.254.169.254/')
  await editor.getByRole('button', { name: 'Send test' }).click()
  await editor.getByText('The test could not be sent').waitFor()
  await expectAccessible(page, 'the test of an address in the editor')
  await page.goto(second!)
  await page.getByText('You are invited to the Org-Memory Hub of globex').waitFor()
  await page.getByRole('button', { name: 'Sign in' }).click()
  await heading(page, 'Overview').waitFor()
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByText('nia@globex.example').waitFor()
})
