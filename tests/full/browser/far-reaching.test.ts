import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible } from '../../browser/ui-lab.ts'
import { type ModeB, modeB } from '../../cmek/mode-b-lab.ts'
import { launchBrowser } from '../../support/browser.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import { patience } from '../../support/machine-speed.ts'
import { type FakeScimSource, manyPeople, startScimSource } from '../../support/scim-source.ts'

/** What reaches farthest of all that the pages do, in a tenant of Mode B from its first key to its last. */
const slug = 'sealed'
let hub: TestHub
let b: ModeB
let source: FakeScimSource
let browser: Browser
let page: Page
const complaints: string[] = []

beforeAll(async () => {
  ;[hub, source, browser] = await Promise.all([
    startHub({ settings: { HUB_OUTBOUND_ALLOW: '127.0.0.1' } }),
    startScimSource({ users: manyPeople(60, `${slug}.example`) }),
    launchBrowser(),
  ])
  b = await modeB(hub, slug)
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', reducedMotion: 'reduce' })
  context.setDefaultTimeout(patience.timeout)
  context.on('weberror', (error) => complaints.push(error.error().message))
  const data = { email: `admin@${slug}.example`, tenant: slug }
  expect((await context.request.post(`${hub.baseUrl}/api/v1/auth/mock-login`, { data })).status()).toBe(200)
  page = await context.newPage()
})
afterAll(async () => {
  await browser?.close()
  await Promise.all([hub?.stop(), source?.stop()])
  expect(complaints).toEqual([])
})

const open = (path: string) => page.goto(`${hub.baseUrl}${path}`)
const dialog = (name: string) => page.getByRole('dialog', { name })
const button = (within: Pick<Page, 'getByRole'>, name: string) => within.getByRole('button', { name, exact: true })
const read = async (path: string) => (await b.call('GET', path)).body
const keyOf = async () => (await read('/api/v1/hub/provision')).cmek

test('a tenant with a key of its own is provisioned with that key, and rotates its content key', async () => {
  await open('/onboarding')
  await page.getByRole('button', { name: /^3\. Hub/ }).click()
  await page.getByRole('textbox', { name: /Records are kept for/ }).waitFor()
  await button(page, 'Provision the Hub').click()
  await page.getByText(/Mode B needs a key of yours/).waitFor()
  await page.getByRole('textbox', { name: 'Key', exact: true }).fill('k1')
  await button(page, 'Provision the Hub').click()
  await page.getByRole('textbox', { name: 'Key', exact: true }).waitFor({ state: 'detached' })
  expect(await keyOf()).toMatchObject({ provider: 'local', key_ref: 'k1', content_keys: 1 })

  await open('/settings/tenant')
  await button(page.getByRole('region', { name: 'Your own key' }), 'Rotate').click()
  await button(dialog('Rotate the content key?'), 'Rotate').click()
  await dialog('Rotate the content key?').waitFor({ state: 'detached' })
  expect(await keyOf()).toMatchObject({ content_keys: 2 })
})

test('a sync that would deactivate many people says how many, and does so after two yeses alone', async () => {
  const { token: bearer_token, baseUrl: base_url } = source
  const connection = { mode: 'pull', base_url, bearer_token, group_archetype_map: [] }
  expect((await b.call('POST', '/api/v1/identity/scim/configure', connection)).status).toBeLessThan(300)
  const active = async () => (await read('/api/v1/roster/users?active=true&limit=1000')).items.length
  await open('/settings/directory')
  const syncs = page.getByRole('region', { name: 'Syncs' })
  await button(syncs, 'Sync now').click()
  await page.getByText(/Synced: 60 added/).waitFor()
  const all = await active()

  source.users = source.users.slice(0, 30)
  await button(syncs, 'Sync now').click()
  const waits = syncs.getByRole('alert').filter({ hasText: 'The sync would deactivate 30 people' })
  await waits.waitFor()
  await expectAccessible(page)
  await button(waits, 'Cancel the sync').click()
  await waits.waitFor({ state: 'detached' })
  expect(await active()).toBe(all)

  await button(syncs, 'Sync now').click()
  await button(waits, 'Deactivate 30 people').click()
  await button(dialog('Deactivate 30 people?'), 'Cancel').click()
  expect(await active()).toBe(all)
  await button(waits, 'Deactivate 30 people').click()
  await button(dialog('Deactivate 30 people?'), 'Go on and deactivate').click()
  await waits.waitFor({ state: 'detached' })
  await expect.poll(active).toBe(all - 30)
})

test('content keys are destroyed once the tenant is named and a reason is given; then the Hub asks for another', async () => {
  const body = { record_type: 'artifact', title: 'Plan', content: 'Only for us.' }
  const { record_id } = (await b.call('POST', '/api/v1/hub/records', body)).body
  await open(`/records/${record_id}`)
  await page.getByText('Only for us.').first().waitFor()

  await open('/settings/tenant')
  const key = page.getByRole('region', { name: 'Your own key' })
  await button(key, 'Destroy').waitFor()
  await expectAccessible(page)
  await button(key, 'Destroy').click()
  const question = dialog(`Destroy all content of this tenant?`)
  const destroy = button(question, 'Destroy for good')
  expect(await destroy.isDisabled()).toBe(true)
  await question.getByLabel(`Type ${slug} to confirm`).fill('sealed ')
  await question.getByLabel('Reason').fill('The contract ended')
  expect(await destroy.isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'detached' })
  expect(await keyOf()).toMatchObject({ key_ref: 'k1' })

  await button(key, 'Destroy').click()
  await question.getByLabel(`Type ${slug} to confirm`).fill(slug)
  expect(await destroy.isDisabled()).toBe(true)
  await question.getByLabel('Reason').fill('The contract ended')
  await expectAccessible(page)
  await destroy.click()
  await key.getByText(/There is none/).waitFor()
  expect(await keyOf()).toBeUndefined()
  const [event] = await b.events('cmek.key_destroyed')
  expect(event).toMatchObject({ details: { reason: 'The contract ended' } })
  expect((await read(`/api/v1/hub/records/${record_id}`)).content).toBe('unavailable')
  await open(`/records/${record_id}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByText('The content is gone', { exact: true }).waitFor()
  await page.getByText(/The key that it was encrypted with was destroyed/).waitFor()
  expect(await page.content()).not.toContain('Only for us.')

  await open('/onboarding')
  await page.getByRole('button', { name: /^3\. Hub.*key of your organisation is missing or was destroyed/ }).click()
  await page.getByRole('textbox', { name: 'Key', exact: true }).fill('k2')
  await button(page, 'Give the Hub this key').click()
  await page.getByRole('textbox', { name: 'Key', exact: true }).waitFor({ state: 'detached' })
  expect(await keyOf()).toMatchObject({ key_ref: 'k2', content_keys: 1 })
})
