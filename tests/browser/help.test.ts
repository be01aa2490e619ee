import { afterAll, beforeAll, expect, test } from 'vitest'
import { patience } from '../support/machine-speed.ts'
import { expectAccessible, expectNoSidewaysScroll, startUiLab, type UiLab } from './ui-lab.ts'

let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 100 })
})
afterAll(() => lab?.stop())

test('a concept is explained by keyboard, in each scheme and on a phone', async () => {
  const page = await lab.signInAs('analyst')
  const button = page.getByRole('button', { name: 'What is Reported cost?' })
  for (const [width, dark] of [
    [1280, false],
    [390, true],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' })
    await button.focus()
    await page.keyboard.press('Enter')
    const text = page.getByRole('dialog', { name: 'What is Reported cost?' })
    await text.getByText('The cost that the sender states').waitFor()
    const link = text.getByRole('link', { name: 'Read more in the documentation' })
    expect(await link.getAttribute('href')).toBe('/docs/glossary#telemetry')
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
    await page.keyboard.press('Escape')
    await text.waitFor({ state: 'detached' })
    await expect
      .poll(() => page.evaluate(`document.activeElement?.getAttribute('aria-label')`), patience)
      .toBe('What is Reported cost?')
  }
  await page.goto(lab.address('/sessions'))
  await page.getByRole('button', { name: 'What is Session?' }).click()
  await page.getByRole('dialog').getByText('a conversation or a run').waitFor()
  expect(lab.complaints).toEqual([])
})
