import type { Page } from 'playwright-core'
import { encode } from 'uqr'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { verifyFile } from '../../../cli/verify/verify-file.ts'
import { expectAccessible, expectNoSidewaysScroll, startUiLab, type UiLab } from '../../browser/ui-lab.ts'

let lab: UiLab
let page: Page
beforeAll(async () => {
  lab = await startUiLab({ events: 400 })
})
afterAll(() => lab?.stop())
beforeEach(async () => {
  await page?.context().close()
})

const rows = () => page.locator('tbody tr[data-index]')
const query = () => new URL(page.url()).searchParams
const dialog = (name: string | RegExp) => page.getByRole('dialog', { name })

async function open(role: Parameters<UiLab['signInAs']>[0], path: string, width = 1280) {
  page = await lab.signInAs(role, path, { viewport: { width, height: 900 } })
}

async function write(body: object): Promise<string> {
  const { body: answer, text } = await lab.hub.call('acme', 'POST', '/api/v1/hub/records', { body })
  if (!answer.record_id) throw new Error(text)
  return answer.record_id
}

test('filters stand in the address, are suggested, and can be taken away', async () => {
  await open('admin', '/records')
  await rows().first().waitFor()
  await page.getByRole('combobox', { name: 'Skill' }).fill('reply')
  await page.getByRole('option', { name: 'support.reply-draft' }).click()
  await page.waitForURL(/skill_id=support\.reply-draft/)
  await page.getByRole('combobox', { name: 'Created', exact: true }).click()
  await page.getByRole('option', { name: 'Last 90 days' }).click()
  await page.waitForURL(/within=90d/)
  await page.getByRole('columnheader', { name: 'Cost' }).getByRole('button').click()
  await page.waitForURL(/sort=-?cost_usd_estimate/)
  await page.getByText('only records with a cost').waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Remove Skill: support.reply-draft' }).click()
  await expect.poll(() => query().get('skill_id')).toBe(null)
  await page.getByRole('button', { name: 'Clear all' }).click()
  await expect.poll(() => query().get('within')).toBe(null)
  await page.getByRole('button', { name: 'Quick filters' }).click()
  await page.getByRole('menuitem', { name: 'Decisions of this week' }).click()
  await page.waitForURL(/record_type=decision&within=week/)
  await expect.poll(() => rows().count()).toBeGreaterThan(2)
  for (const row of await rows().all()) expect(await row.textContent()).toContain('Decision')
  const exported = await page.getByRole('main').getByRole('link', { name: 'Export' }).getAttribute('href')
  expect(exported).toMatch(/^\/exports\?create=.*record_type=decision/)
})

test('a search finds records by their words, highlights them as text, and stands in the address', async () => {
  const id = await write({ record_type: 'artifact', title: 'Zebrafish <b>protocol</b> for the laboratory' })
  await open('auditor', '/records')
  await page.getByRole('searchbox', { name: 'Search the text of records' }).fill('zebrafish protocol')
  await page.waitForURL(/q=zebrafish/)
  await page.locator('mark', { hasText: 'Zebrafish' }).waitFor()
  expect(await page.locator('tbody mark').allTextContents()).toEqual(['Zebrafish', 'protocol'])
  expect(await page.locator('tbody b').count()).toBe(0)
  await page.getByText('1 found, that is all').waitFor()
  await expectAccessible(page)
  await rows().first().click()
  await expect.poll(() => query().get('open')).toBe(id)
  await page.goBack()
  await page.reload()
  await rows().first().waitFor()
  await page.getByRole('searchbox').fill('zebrafish protocols nobodywrote')
  await page.getByText('No record has all of these words').waitFor()
  await page.getByRole('searchbox').fill('nothingatallhasthisword')
  await page.getByText('No record has these words').waitFor()
})

test('further pages come with the end of the rows, and all can be reached by keyboard', async () => {
  await open('analyst', '/records?record_type=telemetry_event')
  await page.getByText('100 loaded, more below').waitFor()
  await rows().first().focus()
  await page.keyboard.press('End')
  await page.getByText('200 loaded, more below').waitFor()
  expect(await page.evaluate('document.activeElement.getAttribute("aria-rowindex")')).toBe('101')
  await page.keyboard.press('ArrowDown')
  expect(await page.evaluate('document.activeElement.getAttribute("aria-rowindex")')).toBe('102')
  expect(await rows().count()).toBeLessThan(60)
})

test('columns are chosen, and kept by the browser', async () => {
  await open('analyst', '/records?record_type=telemetry_event')
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'Latency' }).check()
  await page.getByRole('checkbox', { name: 'Who' }).uncheck()
  await page.keyboard.press('Escape')
  for (const _ of ['now', 'later']) {
    await page.getByRole('columnheader', { name: 'Latency' }).waitFor()
    expect(await page.getByRole('columnheader', { name: 'Who' }).count()).toBe(0)
    await page.reload()
  }
})

test('single keys reach the search, the rows and their list, and can be switched off', async () => {
  await open('auditor', '/records')
  await rows().first().waitFor()
  const focused = (name: string) => page.evaluate(`document.activeElement.getAttribute('${name}')`)
  await page.keyboard.press('j')
  await expect.poll(() => focused('data-index')).toBe('0')
  await page.keyboard.press('j')
  await expect.poll(() => focused('data-index')).toBe('1')
  await page.keyboard.press('k')
  await expect.poll(() => focused('data-index')).toBe('0')
  await page.keyboard.press('o')
  await expect.poll(() => query().get('open')).not.toBe(null)
  await page.keyboard.press('Escape')
  await expect.poll(() => query().get('open')).toBe(null)

  await page.keyboard.press('/')
  await expect.poll(() => focused('type')).toBe('search')
  await page.keyboard.type('j?')
  expect(await page.getByRole('searchbox').inputValue()).toBe('j?')
  // Results of a search have the keys as well.
  await expect.poll(() => query().get('q')).toBe('j?')
  await page.getByRole('heading', { name: 'Records', exact: true }).focus()
  await page.keyboard.press('?')
  await dialog('Keyboard shortcuts').getByText('Open the row').waitFor()
  await expectAccessible(page)
  await dialog('Keyboard shortcuts').getByRole('switch', { name: 'Use keyboard shortcuts' }).click()
  await page.keyboard.press('Escape')
  await dialog('Keyboard shortcuts').waitFor({ state: 'detached' })
  await page.getByRole('searchbox').fill('')
  await rows().first().waitFor()
  await page.getByRole('heading', { name: 'Records', exact: true }).focus()
  await page.keyboard.press('?')
  await page.keyboard.press('j')
  expect(await dialog('Keyboard shortcuts').count()).toBe(0)
  expect(await focused('data-index')).toBe(null)
})

test('the values of events are counted, and a click filters by one and takes it back', async () => {
  await open('member', '/records?record_type=telemetry_event&within=7d')
  const skills = page.getByRole('region', { name: 'Facets' }).getByRole('region', { name: 'Skill' })
  const first = skills.getByRole('button').first()
  const skill = (await first.locator('p').first().textContent()) ?? ''
  await first.click()
  await expect.poll(() => query().get('skill_id')).toBe(skill)
  await skills.getByRole('button', { pressed: true }).waitFor()
  expect(await skills.getByRole('button').count()).toBeGreaterThan(1)
  await expectAccessible(page)
  // The skill may have had no failure.
  await page
    .getByRole('region', { name: 'Result' })
    .getByRole('button', { name: /Succeeded/ })
    .click()
  await expect.poll(() => query().get('success')).toBe('true')
  await skills.getByRole('button', { pressed: true }).click()
  await expect.poll(() => query().get('skill_id')).toBe(null)

  // A wide window has facets beside any list, types among them.
  await open('auditor', '/records', 1440)
  const beside = page.getByRole('region', { name: 'Facets' })
  await beside.getByRole('region', { name: 'Skill' }).getByRole('button').first().waitFor()
  await expectAccessible(page)
  await beside.getByRole('button', { name: 'Decisions' }).click()
  await expect.poll(() => query().get('record_type')).toBe('decision')
  await beside.getByRole('region', { name: 'Skill' }).waitFor({ state: 'detached' })
  await beside.getByRole('button', { name: 'Decisions', pressed: true }).waitFor()
})

test('rows are compact on request, and stay so', async () => {
  await open('auditor', '/records')
  const height = async () => (await rows().first().getAttribute('style'))?.match(/height: (\w+)/)?.[1]
  await rows().first().waitFor()
  expect(await height()).toBe('44px')
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('switch', { name: 'Compact rows' }).click()
  await expect.poll(height).toBe('32px')
  await page.reload()
  await expect.poll(height).toBe('32px')
})

test('the drawer is opened, walked through and closed by keyboard, and gives the focus back', async () => {
  await open('auditor', '/records?record_type=output')
  await rows().nth(1).focus()
  await page.keyboard.press('Enter')
  const [first, second] = [await rows().nth(1).textContent(), await rows().nth(2).textContent()]
  const titleOf = (row: string | null) => row?.replace(/^Output/, '') ?? ''
  const shown = async () => (await page.locator('.mantine-Drawer-title').textContent())?.replace(/^Record/, '') ?? '?'
  await page
    .getByRole('status')
    .filter({ hasText: /^Row 2 of/ })
    .waitFor()
  const before = query().get('open')
  expect(titleOf(first)).toContain(await shown())
  await page.keyboard.press('ArrowDown')
  await page.getByText(/^Row 3 of/).waitFor()
  expect(titleOf(second)).toContain(await shown())
  expect(query().get('open')).not.toBe(before)
  await page.locator('section[data-verdict="verified"]').waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await expect.poll(() => query().get('open')).toBe(null)
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('TR')
})

test('the proof of a record is saved as a file that verifies', async () => {
  const id = await write({ record_type: 'artifact', title: 'To be proven' })
  await open('admin', `/records/${id}`)
  const button = page.getByRole('button', { name: 'Download proof' })
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()])
  expect(download.suggestedFilename()).toBe(`proof-${id}.json`)
  const { outcome, proof } = await verifyFile(await download.path(), {})
  expect([outcome, proof.bundle?.recordId]).toEqual(['verified', id])
  await page.getByText(`Saved proof-${id}.json.`).waitFor()
})

test('the proof of a record prints on paper, with the checkpoint as a QR code', async () => {
  const id = await write({ record_type: 'artifact', title: 'To be handed over' })
  await open('auditor', `/records/${id}`)
  await page.getByRole('link', { name: 'Print proof' }).click()
  await page.getByRole('heading', { name: 'Proof: To be handed over' }).waitFor()
  await page.getByText('This browser verified the proof').waitFor()
  const { body: bundle } = await lab.hub.call('acme', 'GET', `/api/v1/hub/records/${id}/proof-bundle`)
  const sheet = await page.locator('main').textContent()
  for (const fact of [id, bundle.provenance_hash, bundle.provenance_cosign, bundle.seal.seal_id, 'hub verify proof-']) {
    expect(sheet).toContain(fact)
  }
  const shown = await page.locator('pre.proof-text').first().textContent()
  expect(shown).toMatch(/^\S+\n\d+\n\S{44}\ntime \d+\n\n— /)
  const code = page.getByRole('img', { name: 'QR code of the checkpoint' })
  const box = (await code.boundingBox())!
  expect([Math.round(box.width), Math.round(box.height)]).toEqual([208, 208])
  const { data, size } = encode(shown!, { ecc: 'M', border: 4 })
  expect(await code.getAttribute('viewBox')).toBe(`0 0 ${size} ${size}`)
  const modules = (await code.locator('path').getAttribute('d'))!.match(/M/g)!.length
  expect(modules).toBe(data.flat().filter(Boolean).length)
  await expectAccessible(page)

  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  for (const hidden of ['Print', 'Download proof']) {
    expect(await page.getByRole('button', { name: hidden, exact: true }).isVisible(), hidden).toBe(false)
  }
  expect(await page.evaluate('getComputedStyle(document.querySelector("main")).color')).toBe('rgb(0, 0, 0)')
  await page.emulateMedia({ media: 'screen', colorScheme: 'light' })
  await page.setViewportSize({ width: 390, height: 844 })
  await expectNoSidewaysScroll(page)
  expect(lab.complaints).toEqual([])
})

test('the proof of a record that does not exist says so, and an altered one does not verify', async () => {
  await open('auditor', '/records/nothing/proof')
  await page.getByText('is no record id').waitFor()
  await page.goto(lab.address('/records/00000000-0000-7000-8000-000000000000/proof'))
  await page.getByText('Could not load proof').waitFor()
  const id = await write({ record_type: 'artifact', title: 'Sound' })
  await page.route('**/proof-bundle', async (route) => {
    const text = await (await route.fetch()).text()
    await route.fulfill({ contentType: 'application/json', body: text.replaceAll('Sound', 'Forged') })
  })
  await page.goto(lab.address(`/records/${id}/proof`))
  await page.getByText('The proof does not verify').waitFor()
  await page.getByText('provenance_hash_matches: ').waitFor()
})

test('an administrator purges, restores and holds a record, each with its reason', async () => {
  const id = await write({ record_type: 'artifact', title: 'Written twice' })
  await open('admin', `/records/${id}`)
  await page.getByRole('button', { name: 'Purge …' }).click()
  const confirm = dialog('Purge “Written twice”?').getByRole('button', { name: 'Purge' })
  expect(await confirm.isDisabled()).toBe(true)
  await page.getByLabel('Reason').fill('Entered twice')
  await confirm.click()
  await page.getByText(/^Purged\. It can be restored until/).waitFor()
  await page.getByText('“Entered twice”').waitFor()
  const state = async () => (await lab.hub.call('acme', 'GET', `/api/v1/hub/records/${id}/state`)).body
  expect(await state()).toMatchObject({ is_purged: true, purge_reason: 'Entered twice' })

  await page.getByRole('button', { name: 'Restore …' }).click()
  await dialog('Restore “Written twice”?').getByRole('button', { name: 'Restore' }).click()
  await page.getByRole('button', { name: 'Purge …' }).waitFor()
  expect(await state()).toMatchObject({ is_purged: false })

  await page.getByRole('button', { name: 'Place hold …' }).click()
  await page.getByLabel(/^Name/).fill('Case 17')
  await page.getByLabel('Reason').fill('Asked for by counsel')
  await dialog('Place a legal hold on this record').getByRole('button', { name: 'Place hold' }).click()
  await page.getByText('Under a legal hold').waitFor()
  expect(await state()).toMatchObject({ holds: [{ name: 'Case 17' }] })

  expect(await page.getByRole('button', { name: 'Purge …' }).isDisabled()).toBe(true)
})

test('a hold that somebody placed meanwhile stops a purge, and is named', async () => {
  const id = await write({ record_type: 'artifact', title: 'Wanted' })
  await open('admin', `/records/${id}`)
  await page.getByRole('button', { name: 'Purge …' }).click()
  const body = { name: 'Case 18', reason: 'Asked for by counsel', record_ids: [id] }
  await lab.hub.call('acme', 'POST', '/api/v1/hub/legal-holds', { body })
  await page.getByLabel('Reason').fill('Not needed')
  await dialog('Purge “Wanted”?').getByRole('button', { name: 'Purge' }).click()
  await dialog('Purge “Wanted”?').getByRole('link', { name: 'the legal holds' }).waitFor()
  const { body: record } = await lab.hub.call('acme', 'GET', `/api/v1/hub/records/${id}`)
  expect(record.is_purged).toBe(false)
})

test('what somebody else did meanwhile is not overwritten', async () => {
  const id = await write({ record_type: 'artifact', title: 'Contested' })
  await open('admin', `/records/${id}`)
  await page.getByRole('button', { name: 'Purge …' }).waitFor()
  for (const [method, path] of [
    ['DELETE', `?reason=other`],
    ['POST', ':restore'],
  ] as const)
    await lab.hub.call('acme', method, `/api/v1/hub/records/${id}${path}`, method === 'POST' ? { body: {} } : {})
  await page.getByRole('button', { name: 'Purge …' }).click()
  await page.getByLabel('Reason').fill('Mine')
  const confirm = dialog('Purge “Contested”?').getByRole('button', { name: 'Purge' })
  await confirm.click()
  await page.getByText('The record was reloaded').waitFor()
  await confirm.click()
  await page.getByText(/^Purged\. It can be restored until/).waitFor()
})

test('a governance event can be released for purging', async () => {
  const id = await write({ record_type: 'governance_event', event_kind: 'custom.noise' })
  await open('admin', `/records/${id}`)
  await page.getByRole('button', { name: 'Release for purging …' }).click()
  await page.getByLabel('Reason').fill('It was a test')
  await dialog('Release this governance event for purging?').getByRole('button', { name: 'Release' }).click()
  await page.getByText('The event can be purged now.').waitFor()
  const { body } = await lab.hub.call('acme', 'GET', `/api/v1/hub/records/${id}/legal-hold-releases`)
  expect(body.items).toMatchObject([{ reason: 'It was a test' }])
})

test('an analyst sees records, and nothing that would be refused; a member sees telemetry only', async () => {
  await open('analyst', `/records/${lab.world.records.decision}`)
  await page.locator('section[data-verdict="verified"]').waitFor()
  expect(await page.getByRole('button', { name: /Purge|Restore|hold/ }).count()).toBe(0)
  await page.context().close()
  await open('member', '/records')
  await rows().first().waitFor()
  expect(await page.getByLabel('Type', { exact: true }).count()).toBe(0)
  await page.goto(lab.address(`/records/${lab.world.records.decision}`))
  await page.getByText('your role may not see records of its type').waitFor()
})

test('contents are shown as they are written, and never run', async () => {
  await open('auditor', '/records')
  for (const id of Object.values(lab.world.records.contents)) {
    await page.goto(lab.address(`/records/${id}`))
    await page.getByRole('group', { name: 'Content', exact: true }).waitFor()
    expect(await page.evaluate('window.ran')).toBe(undefined)
    expect(await page.getByRole('group', { name: 'Content', exact: true }).locator('*').count()).toBe(0)
  }
  const shady = await write({ record_type: 'artifact', title: 'Shady', uri: 'javascript:window.ran=1' })
  await page.goto(lab.address(`/records/${shady}`))
  await page.getByText('javascript:window.ran=1').first().waitFor()
  expect(await page.locator('a[href^="javascript"]').count()).toBe(0)
  expect(lab.complaints).toEqual([])
})

test('a drawer that came with the address gives the focus to its row', async () => {
  await open('analyst', '/records?record_type=output')
  await rows().nth(2).locator('td').nth(1).click()
  await page.locator('section[data-verdict]').waitFor()
  await page.reload()
  await page.getByText(/^Row 3 of/).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => page.evaluate('document.activeElement.dataset.index')).toBe('2')
})

test('a governance event names the person who caused it, in the list and on its page', async () => {
  const page = await lab.signInAs('admin', '/records?record_type=governance_event&event_kind=auth.login')
  const row = page.getByRole('row', { name: /Signed in.*You/ }).first()
  await row.waitFor()
  expect(await page.getByRole('table').textContent()).not.toContain('The Hub')
  await row.locator('td').nth(1).click()
  const caused = page.getByText('Caused by', { exact: true })
  await caused.waitFor()
  expect(await caused.locator('xpath=following-sibling::*[1]').textContent()).toContain('You')
})

test('what of a link is not understood is said, and filters follow the address', async () => {
  const id = lab.world.records.decision
  await open('auditor', '/records?record_id=nonsense&record_type=decision')
  await page.getByText('Unusable filter in the address: record_id').waitFor()
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await expect.poll(() => query().toString()).toBe('record_type=decision')
  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByLabel('Record id').fill(id)
  await expect.poll(() => query().get('record_id')).toBe(id)
  await page.getByRole('button', { name: 'Clear all' }).click()
  await expect.poll(() => page.getByLabel('Record id').inputValue()).toBe('')
})

test('an id in capitals is the same id, what is none is no record, and what is held cannot be purged', async () => {
  await open('admin', `/records/${lab.world.records.decision.toUpperCase()}`)
  await page.locator('section[data-verdict="verified"]').waitFor()
  await page.getByText('Under a legal hold').waitFor()
  expect(await page.getByRole('button', { name: 'Purge …' }).isDisabled()).toBe(true)
  await page.goto(lab.address('/records/nonsense'))
  await page.getByText('“nonsense” is no record id').waitFor()
})

test('on a phone filters and tools are behind a button each', async () => {
  await open('admin', '/records?record_type=decision', 390)
  await rows().first().waitFor()
  const box = await rows().first().boundingBox()
  expect(box!.y).toBeLessThan(480)
  const filters = page.getByRole('search', { name: 'Filters' })
  expect(await filters.getByRole('combobox').filter({ visible: true }).count()).toBe(0)
  await filters.getByRole('button', { name: 'Filters (1)' }).click()
  await filters.getByRole('combobox', { name: 'Order' }).click()
  await page.getByRole('option', { name: 'Oldest first' }).click()
  await page.waitForURL(/sort=created_at/)
  await page.getByRole('button', { name: 'Verify, export and more' }).click()
  await expectAccessible(page)
  await page.getByRole('menuitem', { name: 'Columns …' }).click()
  await dialog('Columns of the table').getByRole('checkbox', { name: 'Latency' }).waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Verify, export and more' }).click()
  await page.getByRole('menuitem', { name: 'Verify all on this page' }).click()
  await page.getByText(/^All \d+ rows are genuine/).waitFor()
})

test('where nothing matches it is said what to loosen', async () => {
  await open('auditor', '/records?record_type=decision&skill_id=nothing.here')
  await page.getByText('Nothing matches these filters').waitFor()
  await page.getByRole('button', { name: 'Without skill' }).click()
  await rows().first().waitFor()
})

test('list, details and an empty tenant fit a phone and everyone', async () => {
  for (const path of [
    '/records',
    `/records?open=${lab.world.records.decision}`,
    `/records/${lab.world.records.endOfChain}`,
  ]) {
    await open('admin', path, 390)
    await page
      .locator(path === '/records' ? 'tbody tr[data-index]' : 'section[data-verdict="verified"]')
      .first()
      .waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await page.context().close()
  }
  const globex = await lab.profileOf('admin', { tenant: 'globex' })
  page = await globex.newPage()
  await page.goto(lab.address('/records?record_type=output'))
  await page.getByText('Nothing matches these filters').waitFor()
  await expectAccessible(page)
})
