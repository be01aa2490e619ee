import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { expectAccessible, startUiLab, type UiLab } from '../../browser/ui-lab.ts'
import { fakeClock } from '../../support/fake-clock.ts'

const time = fakeClock()
let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 50, time })
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

const call = (method: string, path: string, body?: object) =>
  lab.hub.call('acme', method, `/api/v1/hub${path}`, body ? { body } : {})
const holds = async () =>
  (await call('GET', '/legal-holds')).body.items as { name: string; [member: string]: unknown }[]
const done = (page: Page, text: string) => page.getByText(text).first().waitFor()

test('a hold is placed by a filter, after a look at what it finds, and released with a reason', async () => {
  const page = await lab.signInAs('admin', '/governance/holds')
  await page.getByRole('button', { name: 'Place hold' }).click()
  const form = page.getByRole('dialog', { name: 'Place a legal hold' })
  await form.getByRole('button', { name: 'Place hold' }).click()
  await form.getByText('Say which matter it is for.').waitFor()
  await form.getByLabel(/^Name/).and(page.locator(':focus')).waitFor()
  // The form is longer than the window; its buttons stay at the foot.
  const { y = Number.NaN, height = 0 } = (await form.getByRole('button', { name: 'Place hold' }).boundingBox()) ?? {}
  expect(y + height).toBeLessThan(page.viewportSize()?.height ?? 0)
  await form.getByLabel(/^Name/).fill('Case 77: campaign')
  await form.getByLabel('Reason').fill('Asked for by the regulator')
  await form.getByText('By filter', { exact: true }).click()
  await form.getByLabel('Record types').first().click()
  await page.getByRole('option', { name: 'Decision' }).click()
  await form.getByText('4 records match now').waitFor()
  await form.getByLabel(/^Name/).click()
  await expectAccessible(page, 'form of a hold')
  await form.getByRole('button', { name: 'Place hold' }).click()
  await done(page, '“Case 77: campaign” is in force.')
  const placed = (await holds()).find(({ name }) => name === 'Case 77: campaign')
  expect(placed).toMatchObject({
    active: true,
    reason: 'Asked for by the regulator',
    filter: { record_type: ['decision'] },
  })

  const details = page.getByRole('dialog', { name: 'Legal hold' })
  await details.getByRole('button', { name: 'Release hold' }).click()
  const question = page.getByRole('dialog', { name: 'Release “Case 77: campaign”?' })
  expect(await question.getByRole('button', { name: 'Release hold' }).isDisabled()).toBe(true)
  await question.getByLabel('Reason').fill('The inquiry is over')
  await question.getByRole('button', { name: 'Release hold' }).click()
  await done(page, '“Case 77: campaign” is released.')
  expect((await holds()).find(({ name }) => name === 'Case 77: campaign')).toMatchObject({
    active: false,
    release_reason: 'The inquiry is over',
  })
})

test('a hold names records by id first, and shows them and unknown ids before it is placed', async () => {
  const { body } = await call('GET', '/records?record_type=decision&limit=2')
  const records = body.records as { record_id: string; title?: string }[]
  const unknown = crypto.randomUUID()
  const page = await lab.signInAs('admin', '/governance/holds?place=1')
  const form = page.getByRole('dialog', { name: 'Place a legal hold' })
  await form.getByLabel(/^Name/).fill('Case 79: two records')
  await form.getByLabel('Reason').fill('Asked for by a lawyer')
  const place = form.getByRole('button', { name: 'Place hold' })
  await place.click()
  await form.getByText('Name at least one record.').waitFor()
  const ids = form.getByLabel('Ids of records')
  await ids.fill('17')
  await place.click()
  await form.getByText('This is no id of a record: 17').waitFor()
  await ids.fill([...records.map(({ record_id }) => record_id), unknown].join('\n'))
  await form.getByText('3 records named').waitFor()
  await form.getByText(`No record has the id ${unknown}.`).waitFor()
  for (const { record_id } of records) await form.locator(`a[href$="/records/${record_id}"]`).waitFor()
  await expectAccessible(page, 'form of a hold over records by id')
  await place.click()
  await form.getByText('The hold was not placed').waitFor()
  await ids.fill(records.map(({ record_id }) => record_id).join(', '))
  await form.getByText('2 records named').waitFor()
  await place.click()
  await done(page, '“Case 79: two records” is in force.')
  const placed = (await holds()).find(({ name }) => name === 'Case 79: two records')
  expect(placed).toMatchObject({ active: true, record_count: 2 })
  await call('POST', `/legal-holds/${placed?.hold_id}:release`, { reason: 'Settled' })
})

test('a hold over all records needs the name of the tenant, and a filter needs a condition', async () => {
  const page = await lab.signInAs('admin', '/governance/holds?place=1')
  const form = page.getByRole('dialog', { name: 'Place a legal hold' })
  await form.getByLabel(/^Name/).fill('Case 78: everything')
  await form.getByLabel('Reason').fill('Asked for by a court')
  const place = form.getByRole('button', { name: 'Place hold' })
  await form.getByText('By filter', { exact: true }).click()
  await place.click()
  await form.getByText('Name at least one condition, or choose “All records”.').waitFor()
  await form.getByText('All records', { exact: true }).click()
  await form.getByText(/^(At least )?[\d,]+ records match now$/).waitFor()
  await place.click()
  await form.getByText('Type acme, the name of the tenant.').waitFor()
  await expectAccessible(page, 'form of a hold over all records')
  expect((await holds()).some(({ name }) => name === 'Case 78: everything')).toBe(false)
  await form.getByLabel('Type acme to confirm').fill('acme')
  await place.click()
  await done(page, '“Case 78: everything” is in force.')
  const placed = (await holds()).find(({ name }) => name === 'Case 78: everything')
  expect(placed).toMatchObject({ active: true, all: true, filter: {} })
  await call('POST', `/legal-holds/${placed?.hold_id}:release`, { reason: 'Settled' })
})

test('a retention rule is changed after what follows from it was said', async () => {
  const page = await lab.signInAs('admin', '/governance/retention')
  await page.getByLabel('Decisions are kept at least, in days').fill('3650')
  await page.getByLabel('Outputs are purged after, in days').fill('2555')
  await page.getByRole('button', { name: 'Save rules' }).click()
  const question = page.getByRole('dialog', { name: 'Change the retention rules?' })
  await question.getByText('cannot be purged before they are 3,650 days (10 years) old').waitFor()
  await question.getByText('None is that old now.').waitFor()
  await expectAccessible(page, 'change of retention rules')
  await question.getByRole('button', { name: 'Change rules' }).click()
  await done(page, 'The retention rules are changed.')
  const { body } = await call('GET', '/retention-rules')
  expect(body.rules).toEqual(
    expect.arrayContaining([
      { record_type: 'decision', min_days: 3650 },
      { record_type: 'output', max_days: 2555 },
      { record_type: 'governance_event', min_days: 365 },
    ]),
  )

  // The event of it tells what was changed.
  await page.goto(lab.address('/governance?event_kind=tenant.config_changed'))
  await page
    .getByRole('row', { name: /Retention rules changed/ })
    .first()
    .press('Enter')
  const event = page.getByRole('dialog', { name: 'Configuration changed' })
  await event.getByText('Before and after').waitFor()
  await event.getByText('3650', { exact: false }).first().waitFor()
  await expectAccessible(page, 'details of an event')
})

test('an auditor verifies the certificate of an erased record in the browser', async () => {
  const written = await call('POST', '/records', {
    ...{ record_type: 'artifact', title: 'A note', media_type: 'text/plain', uri: 'https://wiki.acme.example/9' },
    content: { excerpt: 'Nothing' },
  })
  const { record_id } = written.body
  await call('DELETE', `/records/${record_id}?reason=Erasure%20request%2018`)
  const early = await lab.signInAs('admin', '/governance/certificates?show=purged')
  const row = early.getByRole('row').filter({ hasText: record_id.slice(-12) })
  await row.getByText('in 29 days', { exact: false }).or(row.getByText('in 30 days')).waitFor()
  await early.context().close()

  time.step({ days: 31 })
  await lab.hub.modules.hub.erasure.run(await lab.hub.tenant('acme'), {})
  const page = await lab.signInAs('auditor', '/governance/certificates')
  await page.getByLabel('Id of an erased record').fill(record_id)
  await page.getByRole('button', { name: 'Find certificate' }).click()
  const certificate = page.getByRole('dialog', { name: 'Deletion certificate' })
  await certificate.getByText('The certificate is genuine').waitFor()
  expect(await certificate.getByLabel('Passed:').count()).toBe(6)
  expect(await certificate.getByText('Erasure request 18').count()).toBe(1)
  await expectAccessible(page, 'certificate')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    certificate.getByRole('button', { name: 'Download as JSON' }).click(),
  ])
  expect(download.suggestedFilename()).toBe(`deletion-certificate-${record_id}.json`)
})

test('a certificate that the Hub has falsified does not verify', async () => {
  const context = await lab.profileOf('auditor')
  const { body } = await call('GET', '/records?event_kind=hub.record_hard_deleted&sort=-created_at&limit=1')
  const record_id = body.records[0].subject.slice('record:'.length)
  await context.route('**/deletion-certificate', async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, json: { ...(await answer.json()), purge_reason: 'Another reason' } })
  })
  const page = await context.newPage()
  await page.goto(lab.address(`/governance/certificates?record=${record_id}`))
  await page.getByText('The certificate does not hold').waitFor()
  expect(await page.getByLabel('Failed:').count()).toBe(1)
})

test('the log is checked in the browser, and has to go on from what this browser saw last', async () => {
  const page = await lab.signInAs('auditor', '/governance/log')
  const isGood = 'The log is signed and consistent with the last state seen'
  const kept = () => page.evaluate("JSON.parse(localStorage.getItem('hub-trust:acme')).checkpoint.treeSize")
  const checkpoint = async () => (await call('GET', '/log/checkpoint')).body
  await page.getByText(isGood).waitFor()
  await page.getByRole('button', { name: '2. A trusted key signed the newest state' }).waitFor()
  await expectAccessible(page, 'log')
  const before = await checkpoint()
  await call('POST', '/records', {
    record_type: 'governance_event',
    event_kind: 'custom.more',
    subject: 'x:1',
    details: {},
  })
  await expect.poll(async () => (await checkpoint()).tree_size).toBeGreaterThan(before.tree_size)
  const { tree_size: grown } = await checkpoint()
  const again = page.getByRole('button', { name: 'Check again' })
  await again.click()
  await expect.poll(kept).toBeGreaterThanOrEqual(grown)
  await page.getByText(isGood).waitFor()

  // A genuine state of before, as after a restore that nobody told of.
  await page.route('**/api/v1/hub/log/checkpoint', (route) => route.fulfill({ json: before }))
  await again.click()
  await page.getByRole('alert').getByText('The log is not the one that it was').waitFor()
  await page.getByText('Entries are never taken out.', { exact: false }).waitFor()
  expect(await kept()).toBeGreaterThanOrEqual(grown)
})

test('a purged record is restored from the list of what was purged', async () => {
  const { record_id } = (await call('GET', '/records?record_type=artifact&limit=1')).body.records[0]
  await call('DELETE', `/records/${record_id}?reason=By%20mistake`)
  const page = await lab.signInAs('admin', '/governance/certificates?show=purged')
  await page.getByRole('button', { name: `Restore record ${record_id}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
  await done(page, 'The record is back.')
  const row = page.getByRole('row').filter({ hasText: record_id.slice(-12) })
  await row.getByText('Restored', { exact: true }).waitFor()
  expect((await call('GET', `/records/${record_id}`)).body.is_purged).toBe(false)
})

test('events are filtered by what is typed, wherever in the field', async () => {
  const page = await lab.signInAs('auditor', '/governance')
  const subject = page.getByRole('combobox', { name: 'Subject' })
  await subject.pressSequentially('records')
  await subject.press('Home')
  await subject.pressSequentially('no-')
  expect(await subject.inputValue()).toBe('no-records')
  await subject.press('Enter')
  await page.getByText('No events match').waitFor()
  expect(new URL(page.url()).searchParams.get('subject')).toBe('no-records')
})

test('no alarm is good news, and one says what failed and leads to the record', async () => {
  const { decision } = lab.world.records
  const page = await lab.signInAs('auditor', '/governance/alarms')
  await page.getByText('No tampering detected').waitFor()
  const client = await lab.hub.superuserClient()
  await client.query(
    "update hub.records set canonical = replace(canonical, 'deferred', 'approved') where tenant_id = 'acme' and record_id = $1",
    [decision],
  )
  await call('POST', `/records/${decision}/verify`)
  await expect
    .poll(async () => (await call('GET', '/records?event_kind=hub.tamper_detected')).body.records.length)
    .toBe(1)
  await page.reload()
  const alarm = page.getByRole('article')
  await alarm.getByText('its content was changed', { exact: false }).waitFor()
  await expectAccessible(page, 'alarms')
  await alarm.getByRole('link', { name: 'Verify in this browser' }).click()
  await page.waitForURL(`**/records/${decision}#verification-title`)
  await page.locator('section[data-verdict="tampered"] [data-step="hash"][data-state="failed"]').waitFor()
})
