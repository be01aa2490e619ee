import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DemoReport } from '../../cli/demo/report.ts'
import { type Picture, pictures, picturesFolder } from '../browser/pictures.ts'
import { expectNoSidewaysScroll, watch } from '../browser/ui-lab.ts'
import { runCli } from '../cli/run-cli.ts'
import { launchBrowser } from '../support/browser.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, hubCommand, startHubProcess } from '../support/hub-process.ts'
import { patience } from '../support/machine-speed.ts'
import { settled } from './browser/all-pages.ts'

const traceLength = 19_366

let dataDir: string
let hub: HubProcess
let first: DemoReport

beforeAll(async () => {
  dataDir = await freshDataDirectory()
  hub = await startHubProcess(dataDir)
  first = await hubCommand<DemoReport>(dataDir, 'demo')
})
afterAll(async () => {
  await hub.stop()
  await removeDataDirectories()
})

test('the demo loads the whole trace, verifies it, and when repeated doubles nothing', async () => {
  expect(first).toMatchObject({ base_url: hub.url, events: { written: traceLength, found: 0 }, verified_offline: 1000 })
  // The marker is an artifact too, and one of 24 is purged.
  expect(first.stored).toMatchObject({ telemetry_event: traceLength, skill_definition: 16, artifact: 24 })
  expect(first.stored).toMatchObject({ output: 48, decision: 40 })
  expect(first.people).toEqual({ written: 120, found: 0 })
  const total = Object.values(first.stored).reduce((sum, count) => sum + count, 0)
  expect(first.verification).toEqual({ checked: total, verified: total, tampered: 0, cosign_invalid: 0 })
  expect(first.also_stored).toEqual({
    legal_holds: 1,
    purged_records: 1,
    saved_views: 3,
    webhook_endpoints: 1,
    budgets: 1,
  })
  expect(first.unpriced).toBeGreaterThan(0)
  expect(first.cost_usd_computed).toBeGreaterThan(0)

  const second = await hubCommand<DemoReport>(dataDir, 'demo')
  expect(second).toMatchObject({ events: { written: 0, found: traceLength }, records: { written: 0 } })
  const { governance_event: eventsBefore = 0, ...recordsBefore } = first.stored
  const { governance_event: eventsAfter = 0, ...recordsAfter } = second.stored
  expect(recordsAfter).toEqual(recordsBefore)
  // The secret of the loader's account was rotated. The Hub reports two thresholds of the budget, before or after the
  // first count, and nothing else changed.
  expect([1, 3]).toContain(eventsAfter - eventsBefore)
  expect(second.cost_usd_computed).toBe(first.cost_usd_computed)
})

test('the printed summary ends with a command for this Hub', async () => {
  const { code, stdout, stderr } = await runCli(['demo'], { HUB_DATA_DIR: dataDir })
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(
    `Sign in: HUB_DATA_DIR=${dataDir} npm run hub -- tenant welcome-link demo`,
  )
})

test('in production it asks for the tenant by name', async () => {
  const result = await runCli(['demo'], {
    HUB_ENV: 'production',
    HUB_BASE_URL: 'https://hub.example.com',
    HUB_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    HUB_DATA_DIR: await freshDataDirectory(),
  })
  expect(result.code).toBe(1)
  expect(result.stderr).toContain('--tenant')
})

/** `vitest --update` writes the pictures. */
describe('the pictures of the documentation show the demo data', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  test.each(pictures)('$name', async (picture) => {
    const complaints: string[] = []
    const page = await openPicture(browser, picture, complaints)
    await picture.shown(page)
    await settled(page)
    await page.evaluate('document.fonts.ready')
    await expectNoSidewaysScroll(page)
    expect(await page.getByRole('alert').allInnerTexts()).toEqual([])
    const empty = page.getByRole('main').getByRole('heading', { name: /^(No|Nothing|Nobody|Not) (?!longer)/ })
    expect(await empty.allInnerTexts()).toEqual([])
    expect(complaints).toEqual([])
    const file = join(picturesFolder, `${picture.name}.png`)
    const taken = await page.screenshot()
    if (expect.getState().snapshotState.snapshotUpdateState === 'all') await writeFile(file, taken)
    expect(sizeOf(await readFile(file))).toEqual(sizeOf(taken))
    await page.context().close()
  })
})

/** Opens the page as the administrator, in the zone whose days the demo has. */
async function openPicture(browser: Browser, picture: Picture, complaints: string[]): Promise<Page> {
  const { path, viewport, colorScheme = 'light' } = picture
  const locality = { locale: 'en-GB', timezoneId: first.time_zone, reducedMotion: 'reduce' } as const
  const context = await browser.newContext({ ...locality, viewport, colorScheme })
  context.setDefaultTimeout(patience.timeout)
  watch(context, complaints)
  const data = { email: `admin@${first.tenant}.example`, tenant: first.tenant }
  const response = await context.request.post(`${hub.url}/api/v1/auth/mock-login`, { data })
  expect(response.ok(), await response.text()).toBe(true)
  const page = await context.newPage()
  await page.goto(`${hub.url}${path}`)
  return page
}

/** Returns the width and height of a PNG image, in pixels. */
const sizeOf = (image: Buffer) => [image.readUInt32BE(16), image.readUInt32BE(20)]
