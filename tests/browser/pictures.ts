import { resolve } from 'node:path'
import type { Page } from 'playwright-core'

/** The folder of the pictures. */
export const picturesFolder = resolve(import.meta.dirname, '../../docs/images')

/** A picture of the documentation: a page of the web UI with the demo data, as the administrator sees it. */
export interface Picture {
  name: string
  path: string
  viewport: { width: number; height: number }
  colorScheme?: 'dark'
  /** Resolves once the page shows its part of the demo data. */
  shown(page: Page): Promise<unknown>
}

const window = { width: 1280, height: 800 }

/** All pictures. tests/documentation.test.ts compares them with those that the pages show. */
export const pictures: readonly Picture[] = [
  { name: 'command-center', path: '/', viewport: { width: 1440, height: 1584 }, shown: figures },
  // The next two show the whole page.
  {
    name: 'command-center-dark',
    path: '/',
    viewport: { width: 1440, height: 2980 },
    colorScheme: 'dark',
    shown: figures,
  },
  { name: 'command-center-phone', path: '/', viewport: { width: 390, height: 2800 }, shown: figures },
  { name: 'records', path: '/records?record_type=decision', viewport: window, shown: rows('Records') },
  { name: 'record', path: '/records?record_type=decision', viewport: window, shown: firstRecord },
  { name: 'skills', path: '/skills', viewport: window, shown: rows('Skills and packs') },
  { name: 'sessions', path: '/sessions', viewport: window, shown: rows('Sessions') },
  { name: 'budgets', path: '/budgets', viewport: window, shown: budget },
  { name: 'governance', path: '/governance', viewport: window, shown: rows('Governance events') },
]

async function figures(page: Page): Promise<void> {
  for (const region of ['Invocations and failures', 'Cost', 'Tokens'])
    await page.getByRole('region', { name: region, exact: true }).locator('.recharts-surface').first().waitFor()
  await page.getByRole('article', { name: 'Newly failing' }).getByText('Error codes').waitFor()
  await page.getByRole('article', { name: 'Unused skills' }).getByRole('link').first().waitFor()
  await page.getByRole('article', { name: 'Cost exceptions' }).getByText('See one').first().waitFor()
}

/** Returns a step that resolves once a table below the heading has six rows, and its header. */
function rows(heading: string): Picture['shown'] {
  return async (page) => {
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    await page.getByRole('row').nth(6).waitFor()
  }
}

/** Its thresholds are none to wait for: none is reached in the first hours of a month. */
async function budget(page: Page): Promise<void> {
  await page.getByText('Support', { exact: true }).waitFor()
}

/** Opens the newest decision, and waits for its proof. */
async function firstRecord(page: Page): Promise<void> {
  await page.getByRole('row').nth(1).click()
  await page.getByText('Verified by this browser').waitFor()
}
