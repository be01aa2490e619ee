// Looks at a page as somebody of a role, saves what it looks like and says what is wrong with it:
//   node tests/browser/look.ts --address http://127.0.0.1:5173 --role admin --path /records --out /tmp/records.png
import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { AxeResults } from 'axe-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { launchBrowser } from '../support/browser.ts'

const { values: flags } = parseArgs({
  options: {
    address: { type: 'string' },
    /** admin, auditor, analyst or member; none signs nobody in. */
    role: { type: 'string', default: 'admin' },
    tenant: { type: 'string', default: 'acme' },
    path: { type: 'string', default: '/' },
    width: { type: 'string', default: '1280' },
    height: { type: 'string', default: '900' },
    dark: { type: 'boolean', default: false },
    /** The whole page, not only what is in the window. */
    full: { type: 'boolean', default: false },
    /** A selector (it begins with . # [ or role=, css= and the like), or text that is visible. */
    wait: { type: 'string' },
    /** Selectors, one after the other, such as role=button[name="Save"]. */
    click: { type: 'string', multiple: true, default: [] },
    /** selector=>text */
    fill: { type: 'string', multiple: true, default: [] },
    /** Keys with commas between, after the clicks. */
    press: { type: 'string' },
    out: { type: 'string', default: join(tmpdir(), 'look.png') },
  },
})
if (!flags.address) throw new Error('--address says where the UI is')
const address = flags.address.replace(/\/$/, '')
const idleMs = 4000
const patienceMs = 10_000

const browser = await launchBrowser()
try {
  const context = await openContext(browser)
  const page = await context.newPage()
  const wrong = watch(page)
  await page.goto(`${address}${flags.path}`)
  await rest(page)
  for (const selector of flags.click) {
    await page.locator(selector).first().click()
    await rest(page)
  }
  for (const each of flags.fill) {
    const [selector = '', text = ''] = each.split('=>')
    await page.locator(selector).first().fill(text)
    await rest(page)
  }
  for (const key of flags.press?.split(',') ?? []) await page.keyboard.press(key)
  if (flags.wait) await awaited(page, flags.wait)
  await rest(page)
  await page.screenshot({ path: flags.out, fullPage: flags.full })
  console.log(`${flags.out} shows ${page.url()}: ${await page.title()}`)
  for (const line of [...wrong, ...(await faults(page))]) console.log(line)
} finally {
  await browser.close()
}

/** Signed in, by what an earlier look kept where that is still good. */
async function openContext(browser: Browser): Promise<BrowserContext> {
  const options: BrowserContextOptions = {
    viewport: { width: Number(flags.width), height: Number(flags.height) },
    colorScheme: flags.dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    // Otherwise Chromium takes them of the machine, where a language may be `en-US@posix`.
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  }
  const { role, tenant } = flags
  if (role === 'none') return patient(await browser.newContext(options))
  const folder = join(tmpdir(), 'hub-looks')
  const file = join(folder, `${new URL(address).port}-${tenant}-${role}.json`)
  const kept = await readFile(file, 'utf8').then(JSON.parse, () => undefined)
  if (kept) {
    const context = await browser.newContext({ ...options, storageState: kept })
    const token = await context.request.post(`${address}/api/v1/auth/token`, { data: {} })
    if (token.ok()) return patient(context)
    await context.close()
  }
  const context = await browser.newContext(options)
  const data = { email: `${role}@${tenant}.example`, tenant }
  const answer = await context.request.post(`${address}/api/v1/auth/mock-login`, { data })
  if (!answer.ok()) throw new Error(`the mock login answered ${answer.status()}: ${await answer.text()}`)
  await mkdir(folder, { recursive: true })
  await writeFile(file, JSON.stringify(await context.storageState()))
  return patient(context)
}

function patient(context: BrowserContext): BrowserContext {
  context.setDefaultTimeout(patienceMs)
  return context
}

/** Errors of scripts, breaches of the policy, failed requests. */
function watch(page: Page): string[] {
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(`SCRIPT ERROR ${error.stack ?? error.message}`))
  page.on('console', (message) => {
    const type = message.type()
    if (type === 'error' || type === 'warning') wrong.push(`CONSOLE ${type} ${message.text()}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) wrong.push(`${response.status()} ${response.request().method()} ${response.url()}`)
  })
  page.on('requestfailed', (request) => wrong.push(`FAILED ${request.url()} ${request.failure()?.errorText}`))
  return wrong
}

/** Pages that are live never come to rest. */
async function rest(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle', { timeout: idleMs }).catch(() => {})
}

async function awaited(page: Page, what: string): Promise<void> {
  const isSelector = /^([a-z-]+=|[.#[])/.test(what)
  await (isSelector ? page.locator(what) : page.getByText(what)).first().waitFor()
}

async function faults(page: Page): Promise<string[]> {
  const [scrolled, shown] = (await page.evaluate(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  )) as [number, number]
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  await page.evaluate(axe)
  const { violations } = (await page.evaluate('axe.run()')) as AxeResults
  return [
    scrolled > shown ? `SCROLLS SIDEWAYS: ${scrolled} px in ${shown} px` : 'scrolls sideways: no',
    ...violations.flatMap(({ id, impact, help, nodes }) =>
      nodes.map((node) => `AXE ${impact} ${id}: ${help}\n    ${node.html.slice(0, 200)}\n    ${node.failureSummary}`),
    ),
    `axe: ${violations.length} violations`,
  ]
}
