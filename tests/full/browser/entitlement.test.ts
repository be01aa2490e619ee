import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../api/webhook-cases.ts'
import { expectAccessible, startUiLab, type UiLab } from '../../browser/ui-lab.ts'

let lab: UiLab
beforeAll(async () => {
  lab = await startUiLab({ events: 50 })
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

const read = async (path: string) => (await must(lab.hub, 'acme', 'GET', path)).body
const grantsOf = async (archetype: string): Promise<string[]> =>
  (await read(`/api/v1/skill-entitlement/archetypes/${archetype}/grants`)).grants.map(
    ({ skill_id }: { skill_id: string }) => skill_id,
  )
const rows = (page: Page, table: string) => page.getByRole('table', { name: table }).locator('tbody tr[data-index]')
const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name })

describe('the roster', () => {
  test('has those without archetype first, who get one by hand and leave it to their groups again', async () => {
    const page = await lab.signInAs('admin', '/skills/roster')
    await page.getByText('2 people have no archetype').waitFor()
    await expect.poll(() => rows(page, 'People').nth(1).textContent()).toContain('none yet')
    expect(await rows(page, 'People').nth(2).textContent()).not.toContain('none yet')
    // The cell has a name and, on a line of its own, the address.
    // biome-ignore lint/performance/useDomNodeTextContent: the layout tells the two lines apart
    const cell = await rows(page, 'People').first().locator('td').first().innerText()
    const address = cell.split('\n').find((line) => line.includes('@')) ?? ''

    await rows(page, 'People').first().focus()
    await page.keyboard.press('Enter')
    const person = dialog(page, 'Person')
    await person.getByText('Contractors').waitFor()
    await person.getByRole('combobox', { name: 'Archetypes' }).or(person.getByLabel('Archetypes')).first().click()
    await page.getByRole('option', { name: 'Support agent' }).click()
    await page.keyboard.press('Escape')
    await person.getByRole('button', { name: 'Assign archetypes' }).click()
    await person.getByText('Given by hand').waitFor()
    const found = async () => (await read(`/api/v1/roster/users?email=${encodeURIComponent(address)}`)).items[0]
    expect(await found()).toMatchObject({ archetype_ids: ['support-agent'], matched: true })
    await page.getByText('1 person has no archetype').waitFor()

    await person.getByRole('button', { name: 'Let groups decide again' }).click()
    await person.getByText('None of their groups').waitFor()
    expect(await found()).toMatchObject({ archetype_ids: [], matched: false })
    await expectAccessible(page)
  })

  test('keeps its filters in the address', async () => {
    const page = await lab.signInAs('admin', '/skills/roster?matched=no&search=gomez&nonsense=1')
    await expect.poll(() => rows(page, 'People').count()).toBe(1)
    await page.getByPlaceholder('Address or name').first().fill('nobody-of-that-name')
    await page.getByText('Nobody fits these filters').waitFor()
    expect(page.url()).toContain('search=nobody-of-that-name')
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await expect.poll(() => rows(page, 'People').count()).toBeGreaterThan(10)
  })

  test('says what goes away with an archetype, and lets the others be', async () => {
    const page = await lab.signInAs('admin', '/skills/roster?tab=archetypes')
    await page.getByLabel('Id', { exact: true }).fill('translator')
    await page.getByRole('button', { name: 'Add archetype' }).click()
    await page.getByRole('button', { name: 'Remove translator' }).waitFor()
    const ids = async () =>
      (await read('/api/v1/roster/archetypes')).items.map(({ archetype_id }: { archetype_id: string }) => archetype_id)
    expect(await ids()).toHaveLength(7)
    await page.getByRole('button', { name: 'Remove translator' }).click()
    await dialog(page, 'Remove translator?').getByText('It is taken from 0 people.').waitFor()
    await dialog(page, 'Remove translator?').getByRole('button', { name: 'Remove archetype' }).click()
    await expect.poll(ids).toEqual(expect.not.arrayContaining(['translator']))
    expect(await ids()).toHaveLength(6)
  })
})

test('a pack shows what it would change before it is applied', async () => {
  const page = await lab.signInAs('admin', '/skills')
  await rows(page, 'Packs').first().click()
  await dialog(page, 'Pack').getByRole('button', { name: 'Apply …' }).click()
  const question = dialog(page, 'Apply Revenue team?')
  await question.getByText('Registers 1').waitFor()
  await question.getByText('sales.forecast-note → finance-controller').waitFor()
  expect(await grantsOf('finance-controller')).not.toContain('sales.forecast-note')
  await question.getByRole('button', { name: 'Apply pack' }).click()
  await dialog(page, 'Pack').getByText('Last application').waitFor()
  expect(await grantsOf('finance-controller')).toContain('sales.forecast-note')
  await dialog(page, 'Pack').getByRole('button', { name: 'Apply again …' }).click()
  await question.getByText('It would change nothing').waitFor()
})

test('retiring a skill says what it means, and has its id typed', async () => {
  const page = await lab.signInAs('admin', '/skills?skill=data.chart-explainer')
  await dialog(page, 'Skill').getByRole('button', { name: 'Retire' }).click()
  const question = dialog(page, 'Retire Explain a chart?')
  await question.getByText('telemetry and outputs that name it are refused').waitFor()
  expect(await question.getByRole('button', { name: 'Retire' }).isDisabled()).toBe(true)
  await question.getByLabel('Type data.chart-explainer to confirm').fill('data.chart-explainer')
  await question.getByRole('button', { name: 'Retire' }).click()
  await question.waitFor({ state: 'detached' })
  expect(await read('/api/v1/skill-entitlement/skills/data.chart-explainer')).toMatchObject({ state: 'retired' })
})

describe('the matrix of grants', () => {
  const cell = (page: Page, name: string) => page.getByRole('checkbox', { name: new RegExp(`^${name}`) })

  test('is changed by keyboard alone, and only when it is saved', async () => {
    const page = await lab.signInAs('admin', '/skills/grants?skill=fin.')
    await cell(page, 'Check an invoice for Account executive').focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Space')
    await page.getByText('1 change for data-analyst, not saved yet.').waitFor()
    expect(await cell(page, 'Check an invoice for Data analyst').getAttribute('aria-checked')).toBe('true')
    expect(await grantsOf('data-analyst')).not.toContain('fin.invoice-check')
    // The second time takes it back.
    await page.keyboard.press('Space')
    await page.getByText('No changes to save.').waitFor()
    await page.keyboard.press('Space')
    await page.keyboard.press('ArrowRight')
    await page.getByText('fin.invoice-check is granted to finance-controller by hand').waitFor()
    await page.keyboard.press('Space')
    // What somebody else gives meanwhile stays.
    const before = await grantsOf('data-analyst')
    await must(lab.hub, 'acme', 'PUT', '/api/v1/skill-entitlement/archetypes/data-analyst/grants', {
      body: { skill_ids: [...before, 'hr.policy-answer'] },
    })
    await page.getByRole('button', { name: 'Save grants' }).click()
    await page.getByText('No changes to save.').waitFor()
    expect((await grantsOf('data-analyst')).sort()).toEqual([...before, 'fin.invoice-check', 'hr.policy-answer'].sort())
    expect(await grantsOf('finance-controller')).not.toContain('fin.invoice-check')
    await expectAccessible(page)
  })

  test('has filters in which one can type in the middle of what stands there', async () => {
    const page = await lab.signInAs('admin', '/skills/grants?skill=n.')
    const field = page.getByRole('textbox', { name: 'Skills', exact: true })
    await field.focus()
    await page.keyboard.press('Home')
    await page.keyboard.type('fi')
    expect(await field.inputValue()).toBe('fin.')
    await page.waitForURL(/skill=fin\./)
    expect(await field.inputValue()).toBe('fin.')
  })

  test('asks before changes are lost', async () => {
    const page = await lab.signInAs('admin', '/skills/grants?skill=fin.')
    await cell(page, 'Explain a variance for Legal counsel').click()
    await page.getByRole('link', { name: 'People', exact: true }).click()
    await dialog(page, 'Leave without saving?').getByRole('button', { name: 'Cancel' }).click()
    expect(page.url()).toContain('/skills/grants')
    await page.getByText('1 change for legal-counsel').waitFor()
  })

  test('tells why somebody may not use a skill', async () => {
    const page = await lab.signInAs('auditor', '/skills/grants')
    await page.getByLabel('Person', { exact: true }).first().fill('kofi.dubois')
    await page.getByRole('option', { name: /kofi\.dubois/ }).click()
    await page.getByLabel('Skill', { exact: true }).first().fill('contract')
    await page.getByRole('option', { name: /legal\.contract-review/ }).click()
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('The person has no archetype.').waitFor()
  })
})

test('an auditor reads roster, skills and grants, and can change none of them', async () => {
  const page = await lab.signInAs('auditor', '/skills')
  const tabs = page.getByRole('navigation', { name: 'Skills' }).getByRole('link')
  expect(await tabs.allInnerTexts()).toEqual(['Skills and packs', 'Grants'])
  const go = (name: string) => tabs.filter({ hasText: name }).click()

  await go('Grants')
  const box = page.getByRole('checkbox', { name: /^Review code for Support agent/ })
  await box.focus()
  await page.keyboard.press('Space')
  expect(await box.getAttribute('aria-checked')).toBe('false')
  expect(await page.getByRole('button', { name: 'Save grants' }).count()).toBe(0)

  await go('Skills')
  await rows(page, 'Packs').first().click()
  await dialog(page, 'Pack').getByText('For the archetypes').waitFor()
  expect(await page.getByRole('button', { name: /Apply|Edit|Add pack|Publish/ }).count()).toBe(0)
  await page.keyboard.press('Escape')

  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'People' }).click()
  await rows(page, 'People').first().click()
  await dialog(page, 'Person').getByText('None yet.').waitFor()
  expect(await page.getByRole('button', { name: /Assign|Map/ }).count()).toBe(0)
  await page.keyboard.press('Escape')

  await page.goto(lab.address('/settings/sign-in'))
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await page.getByLabel('Issuer').count()).toBe(0)
})
