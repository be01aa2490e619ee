// Takes the pictures of the command center from a fresh Hub that `hub demo` filled:
//   node tests/browser/pictures.ts
// writes docs/images/command-center.png; --shots FOLDER adds light, dark and phone variants.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { BrowserContextOptions } from 'playwright-core'
import { launchBrowser } from '../support/browser.ts'
import { hubCommand, startHubProcess } from '../support/hub-process.ts'

const { values: flags } = parseArgs({ options: { shots: { type: 'string' } } })
const tenant = 'demo'
const picture = resolve(import.meta.dirname, '../../docs/images/command-center.png')
// The zone of this machine, whose days the demo lays the trace over.
const { timeZone: timezoneId } = Intl.DateTimeFormat().resolvedOptions()
const locality = { locale: 'en-GB', timezoneId, reducedMotion: 'reduce' } as const
const desktop = { viewport: { width: 1440, height: 1584 } }
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 }

const dataDir = await mkdtemp(join(tmpdir(), 'hub-pictures-'))
const hub = await startHubProcess(dataDir)
const browser = await launchBrowser()
try {
  await hubCommand(dataDir, 'demo', '--tenant', tenant)
  await take(picture, desktop)
  if (flags.shots) {
    await mkdir(flags.shots, { recursive: true })
    await take(join(flags.shots, 'light.png'), desktop, true)
    await take(join(flags.shots, 'dark.png'), { ...desktop, colorScheme: 'dark' }, true)
    await take(join(flags.shots, 'phone.png'), phone, true)
  }
} finally {
  await browser.close()
  await hub.stop()
  await rm(dataDir, { recursive: true, force: true })
}

/** Saves the command center as the administrator sees it, without a touch of any filter. */
async function take(path: string, options: BrowserContextOptions, fullPage = false): Promise<void> {
  const context = await browser.newContext({ ...locality, ...options })
  const data = { email: `admin@${tenant}.example`, tenant }
  const answer = await context.request.post(`${hub.url}/api/v1/auth/mock-login`, { data })
  if (!answer.ok()) throw new Error(`the mock login answered ${answer.status()}: ${await answer.text()}`)
  const page = await context.newPage()
  await page.goto(hub.url)
  for (const region of ['Invocations and failures', 'Cost', 'Tokens'])
    await page.getByRole('region', { name: region, exact: true }).locator('.recharts-surface').first().waitFor()
  await page.getByRole('article', { name: 'Newly failing' }).getByText('Error codes').waitFor()
  await page.getByRole('article', { name: 'Unused skills' }).getByRole('link').first().waitFor()
  await page.getByRole('article', { name: 'Cost exceptions' }).getByText('See one').first().waitFor()
  await page.evaluate('document.fonts.ready')
  await page.screenshot({ path, fullPage })
  await context.close()
}
