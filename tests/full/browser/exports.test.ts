import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { expectAccessible, expectNoSidewaysScroll, startUiLab, type UiLab } from '../../browser/ui-lab.ts'

let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 50 })
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

const jobIn = (address: string) => new URL(address).pathname.split('/').at(-1)

test('an export is ordered, completes, is downloaded, and the file is verified in the browser', async () => {
  const page = await lab.signInAs('auditor', '/exports?create=1&record_type=decision')
  const form = page.getByRole('dialog', { name: 'Create an export' })
  await form.getByText('Decision', { exact: true }).first().waitFor()
  await expectAccessible(page, 'form of an export')
  await form.getByRole('button', { name: 'Create export' }).click()
  await page.waitForURL('**/exports/exp_*')
  await page.getByText('All records verified').waitFor()
  await expectAccessible(page, 'export')
  const { body } = await lab.hub.call('acme', 'GET', `/api/v1/hub/exports/${jobIn(page.url())}`)
  expect(body).toMatchObject({ status: 'completed', verification_summary: { checked: 4, verified: 4, tampered: 0 } })
  await page.getByText('Of all decisions, requested by').waitFor()

  const download = async (name: string) => {
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()])
    return file.path()
  }
  const [file, manifest] = [await download('Download file'), await download('Download manifest')]
  const lines = (await readFile(file, 'utf8')).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).record_type)).toEqual(Array(4).fill('decision'))
  const choose = async (label: string, name: string, buffer: Buffer) => {
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: label, exact: true }).click(),
    ])
    await chooser.setFiles({ name, mimeType: 'application/json', buffer })
  }
  await choose('File', 'export.jsonl', await readFile(file))
  await choose('Manifest', 'export.jsonl.manifest.json', await readFile(manifest))
  await page.getByRole('button', { name: 'Verify in this browser' }).click()
  await page.getByText('4 records verified').waitFor()

  await choose('File', 'edited.jsonl', Buffer.from((await readFile(file, 'utf8')).replace('rejected', 'approved')))
  await page.getByRole('button', { name: 'Verify in this browser' }).click()
  await page.getByRole('alert').getByText('The file does not verify').waitFor()
})

test('a tenant without exports is offered reports, which open the form filled in', async () => {
  const page = await (await lab.profileOf('admin', { tenant: 'globex' })).newPage()
  await page.goto(lab.address('/exports'))
  const offered = page.getByRole('region', { name: 'Ready-made reports' })
  await offered.getByRole('link', { name: 'Evidence pack of the last quarter' }).waitFor()
  await expectAccessible(page, 'exports without any')
  await offered.getByRole('link', { name: 'Telemetry of the last 30 days as CSV' }).click()
  const form = page.getByRole('dialog', { name: 'Create an export' })
  await form.getByText('Telemetry event', { exact: true }).first().waitFor()
  expect(await form.getByRole('radio', { name: 'CSV' }).isChecked()).toBe(true)
})

test('an evidence pack of a period is requested, polled and downloaded', async () => {
  const page = await lab.signInAs('auditor', '/exports')
  await page.getByRole('button', { name: 'Create evidence pack' }).click()
  const form = page.getByRole('dialog', { name: 'Create an evidence pack' })
  await form.getByLabel('Note').fill('Request 4711')
  await expectAccessible(page, 'form of an evidence pack')
  await form.getByRole('button', { name: 'Create evidence pack' }).click()
  await page.waitForURL('**/exports/exp_*')
  const link = page.getByRole('link', { name: 'Download file' })
  const [file] = await Promise.all([page.waitForEvent('download'), link.click()])
  expect(file.suggestedFilename()).toMatch(/^exp_.*\.tar\.gz$/)
  const { body } = await lab.hub.call('acme', 'GET', `/api/v1/hub/exports/${jobIn(page.url())}`)
  expect(body.evidence_pack).toMatchObject({ note: 'Request 4711', include_content: false })
})

test('exports of every state are listed and say what to do', async () => {
  const page = await lab.signInAs('admin', '/exports', { viewport: { width: 390, height: 800 } })
  await page.getByRole('link', { name: 'All decisions' }).first().waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page, 'exports')
  await page
    .getByRole('row', { name: /Failed/ })
    .getByRole('link')
    .click()
  await page.getByText('The storage could not be reached.').waitFor()
  await page.getByRole('link', { name: 'Export again' }).click()
  const form = page.getByRole('dialog', { name: 'Create an export' })
  await form.getByText('Decision', { exact: true }).first().waitFor()
  expect(await form.getByRole('radio', { name: 'Parquet' }).isChecked()).toBe(true)
})

test('an export that is under way is cancelled', async () => {
  // As if it took longer than it does.
  const { body } = await lab.hub.call('acme', 'POST', '/api/v1/hub/records:export', { body: { format: 'csv' } })
  const statusOf = async () => (await lab.hub.call('acme', 'GET', `/api/v1/hub/exports/${body.job_id}`)).body.status
  await expect.poll(statusOf).toBe('completed')
  const client = await lab.hub.superuserClient()
  await client.query(
    "update hub.exports set status = 'running', size_bytes = null, expires_at = null where tenant_id = 'acme' and job_id = $1",
    [body.job_id],
  )
  const page = await lab.signInAs('admin', `/exports/${body.job_id}`)
  await page.getByRole('progressbar', { name: 'Progress of the export' }).waitFor()
  await page.getByRole('button', { name: 'Cancel export' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel export' }).click()
  await page.getByText('It was cancelled').waitFor()
  expect(await statusOf()).toBe('cancelled')
})

test('an export whose files are deleted is ordered again, of the same records', async () => {
  const [{ job_id }] = (await lab.hub.call('acme', 'GET', '/api/v1/hub/exports')).body.items.filter(
    ({ status, verification_summary }: { status: string; verification_summary: { checked: number } | null }) =>
      status === 'completed' && (verification_summary?.checked ?? 0) > 10,
  )
  const client = await lab.hub.superuserClient()
  await client.query("update hub.exports set status = 'expired' where tenant_id = 'acme' and job_id = $1", [job_id])
  const page = await lab.signInAs('admin', `/exports/${job_id}`, { viewport: { width: 390, height: 800 } })
  await page.getByText('Its files are deleted').waitFor()
  expect(await page.getByRole('link', { name: 'Download file' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Export again' }).waitFor()
  await expectNoSidewaysScroll(page)
  await page.getByRole('link', { name: 'Export again' }).click()
  const form = page.getByRole('dialog', { name: 'Create an export' })
  for (const type of ['Output', 'Artifact', 'Decision']) await form.getByText(type, { exact: true }).first().waitFor()
})

test('a member exports telemetry only', async () => {
  const page = await lab.signInAs('member', '/exports?create=1')
  const form = page.getByRole('dialog', { name: 'Create an export' })
  await form.getByRole('button', { name: 'Create export' }).click()
  await page.waitForURL('**/exports/exp_*')
  await page.getByText('All records verified').waitFor()
  const { body } = await lab.hub.call('acme', 'GET', `/api/v1/hub/exports/${jobIn(page.url())}`)
  expect(body.verification_summary.checked).toBe(50)

  // What it was of is not told to members, so it is not offered as the same again.
  const client = await lab.hub.superuserClient()
  await client.query("update hub.exports set status = 'expired' where tenant_id = 'acme' and job_id = $1", [
    body.job_id,
  ])
  await page.reload()
  await page.getByText('Choose them again', { exact: false }).waitFor()
  expect(await page.getByRole('link', { name: 'Export again' }).count()).toBe(0)
})
