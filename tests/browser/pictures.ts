// Takes the pictures of the documentation from a fresh Hub that `hub demo` filled:
//   node tests/browser/pictures.ts
// writes them to docs/images.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { launchBrowser } from '../support/browser.ts'
import { hubCommand, startHubProcess } from '../support/hub-process.ts'

const tenant = 'demo'
const images = resolve(import.meta.dirname, '../../docs/images')
/** The pages of docs/web-ui.md besides the command center: their address, and a heading of each. */
const pages: [name: string, path: string, heading: string][] = [
  ['records', '/records?record_type=decision', 'Records'],
  ['skills', '/skills', 'Skills and packs'],
  ['sessions', '/sessions', 'Sessions'],
  ['budgets', '/budgets', 'Budgets'],
  ['governance', '/governance', 'Governance events'],
]
// The zone of this machine, whose days the demo lays the trace over.
const { timeZone: timezoneId } = Intl.DateTimeFormat().resolvedOptions()
const locality = { locale: 'en-GB', timezoneId, reducedMotion: 'reduce' } as const
const window = { viewport: { width: 1280, height: 800 } }
const desktop = { viewport: { width: 1440, height: 1584 } }
/** Shows the whole page of the command center. */
const tall = { viewport: { width: 1440, height: 2980 } }
const phone = { viewport: { width: 390, height: 2800 } }

const dataDir = await mkdtemp(join(tmpdir(), 'hub-pictures-'))
const hub = await startHubProcess(dataDir)
const browser = await launchBrowser()
try {
  await hubCommand(dataDir, 'demo', '--tenant', tenant)
  await take(join(images, 'command-center.png'), desktop)
  await take(join(images, 'command-center-dark.png'), { ...tall, colorScheme: 'dark' })
  await take(join(images, 'command-center-phone.png'), phone)
  await takePages()
} finally {
  await browser.close()
  await hub.stop()
  await rm(dataDir, { recursive: true, force: true })
}

/** Opens a context in which the administrator is signed in. */
async function signIn(options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext({ ...locality, ...options })
  const data = { email: `admin@${tenant}.example`, tenant }
  const answer = await context.request.post(`${hub.url}/api/v1/auth/mock-login`, { data })
  if (!answer.ok()) throw new Error(`the mock login answered ${answer.status()}: ${await answer.text()}`)
  return context
}

/** Saves the other pages, and the first decision with its proof. */
async function takePages(): Promise<void> {
  const context = await signIn(window)
  const page = await context.newPage()
  for (const [name, path, heading] of pages) {
    await page.goto(`${hub.url}${path}`)
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    await save(page, name)
    if (name !== 'records') continue
    await page.getByRole('row').nth(1).click()
    await page.getByText('Verified by this browser').waitFor()
    await save(page, 'record')
  }
  await context.close()
}

async function save(page: Page, name: string): Promise<void> {
  await page.waitForLoadState('networkidle')
  await page.evaluate('document.fonts.ready')
  await page.screenshot({ path: join(images, `${name}.png`) })
}

/** Saves the command center as the administrator sees it, without a touch of any filter. */
async function take(path: string, options: BrowserContextOptions): Promise<void> {
  const context = await signIn(options)
  const page = await context.newPage()
  await page.goto(hub.url)
  for (const region of ['Invocations and failures', 'Cost', 'Tokens'])
    await page.getByRole('region', { name: region, exact: true }).locator('.recharts-surface').first().waitFor()
  await page.getByRole('article', { name: 'Newly failing' }).getByText('Error codes').waitFor()
  await page.getByRole('article', { name: 'Unused skills' }).getByRole('link').first().waitFor()
  await page.getByRole('article', { name: 'Cost exceptions' }).getByText('See one').first().waitFor()
  await page.evaluate('document.fonts.ready')
  await page.screenshot({ path })
  await context.close()
}
