import type { Page } from 'playwright-core'
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

const pathOf = (id: string, query = '') => `/records/${id}/graph${query}`
/** The node that has the focus, as it is read out. */
const focused = (page: Page) => page.locator('[data-graph-node]:focus')
const graph = (page: Page) => page.getByRole('group', { name: 'Graph of linked records' })

/** Waits for the end of the first layout. It moves nodes out of sight, and a node that is not drawn loses the focus. */
async function settled(page: Page): Promise<void> {
  let before: string | null = null
  const isStill = async () => {
    const now = await page.locator('.react-flow__viewport').getAttribute('style')
    const isSame = now === before
    before = now
    return isSame
  }
  await expect.poll(isStill, { interval: 300 }).toBe(true)
}

test('the graph is walked by keyboard to the fifth step, and a record opens', async () => {
  const { endOfChain, hubOfLinks } = lab.world.records
  const page = await lab.signInAs('admin', pathOf(endOfChain, '?depth=5&direction=out'))
  const start = graph(page).getByRole('button', { name: /where the graph begins/ })
  await settled(page)
  await start.focus()
  const walked: string[] = []
  for (let step = 1; step <= 5; step++) {
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => focused(page).textContent()).toContain(`${step} ${step === 1 ? 'step' : 'steps'} away`)
    // Of the records of a column, the one that leads on is the skill definition of the version before.
    for (let tries = 0; tries < 4; tries++) {
      const text = (await focused(page).textContent()) ?? ''
      if (text.startsWith('Skill definition')) break
      await page.keyboard.press('ArrowDown')
      await expect.poll(() => focused(page).textContent()).not.toBe(text)
    }
    walked.push(((await focused(page).textContent()) ?? '').replace(/^Skill definition(.*?), .*$/, '$1'))
  }
  expect(walked).toEqual([5, 4, 3, 2, 1].map((minor) => `The handbook 1.${minor}.0`))

  await page.keyboard.press('Enter')
  const details = page.getByRole('dialog', { name: 'Record' })
  await details.getByRole('heading', { name: 'The handbook 1.1.0' }).waitFor()
  await expectAccessible(page, 'details of a node')
  const id = new URL(page.url()).searchParams.get('open')
  const answer = await lab.hub.call('acme', 'GET', `/api/v1/hub/records/${id}`)
  expect([answer.body.skill_version, answer.body.related_records]).toEqual([
    '1.1.0',
    expect.arrayContaining([hubOfLinks]),
  ])
  await page.keyboard.press('Escape')
  await details.waitFor({ state: 'detached' })
  // Closing gives the focus back to the node, and the way back is open.
  await expect.poll(() => focused(page).textContent()).toContain('The handbook 1.1.0')
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => focused(page).textContent()).toContain('The handbook 1.2.0')
  await page.keyboard.press('Home')
  await expect.poll(() => focused(page).textContent()).toContain('where the graph begins')
})

test('the node where one is comes back into view when Tab leads to it', async () => {
  const page = await lab.signInAs('auditor', pathOf(lab.world.records.decision, '?depth=1'))
  const start = graph(page).getByRole('button', { name: /where the graph begins/ })
  await start.waitFor()
  const { x, y, width, height } = (await graph(page).boundingBox())!
  await page.mouse.move(x + 20, y + 20)
  for (const _ of ['once', 'and further']) {
    await page.mouse.move(x + 20, y + 20)
    await page.mouse.down()
    await page.mouse.move(x + width - 20, y + height - 20, { steps: 5 })
    await page.mouse.up()
  }
  await start.waitFor({ state: 'detached' })
  await page.getByRole('radio', { name: 'All' }).focus()
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page).textContent()).toContain('where the graph begins')
  const node = (await start.boundingBox())!
  expect([node.x > x, node.x < x + width - node.width, node.y > y, node.y < y + height - node.height]).toEqual(
    Array(4).fill(true),
  )
})

test('a large fan-out is folded, and opens step by step', async () => {
  const page = await lab.signInAs('auditor', pathOf(lab.world.records.hubOfLinks, '?depth=1&direction=out'))
  const more = graph(page).getByRole('button', { name: /^\+54 more/ })
  await more.waitFor()
  await expectAccessible(page, 'graph')
  await more.focus()
  await page.keyboard.press('Enter')
  await page.getByText('61 records, 60 links; 47 are drawn, the rest is folded').waitFor()
  // The first of those that were folded has the focus, which would be lost otherwise.
  await expect.poll(() => focused(page).textContent()).toContain('Source 7 of the handbook')
  await page.getByText('List', { exact: true }).click()
  await page.getByRole('button', { name: '+14 more' }).click()
  const list = page.getByRole('list', { name: 'Linked records' })
  await expect.poll(() => list.getByRole('link').count()).toBe(61)
})

test('on a phone it is a list with how records are linked', async () => {
  const { decision } = lab.world.records
  const page = await lab.signInAs('analyst', pathOf(decision, '?depth=1'), { viewport: { width: 390, height: 800 } })
  const list = page.getByRole('list', { name: 'Linked records' })
  await list.waitFor()
  await expectAccessible(page, 'list of linked records')
  await expectNoSidewaysScroll(page)
  const { body } = await lab.hub.call('acme', 'GET', `/api/v1/hub/records/${decision}/related?depth=1`)
  const links = await list.getByRole('link').all()
  const addresses = await Promise.all(links.map((link) => link.getAttribute('href')))
  expect(addresses).toEqual(body.records.map(({ record_id }: { record_id: string }) => `/records/${record_id}`))
  expect(await list.getByText('names', { exact: true }).count()).toBe(6)
  expect(await graph(page).count()).toBe(0)
})

test('a member has the graph of telemetry, and of nothing else', async () => {
  const { body } = await lab.hub.call('acme', 'GET', '/api/v1/hub/records?record_type=telemetry_event&limit=1')
  const page = await lab.signInAs('member', pathOf(body.records[0].record_id))
  await page.getByText('This record names no other that you may see, and none names it.').waitFor()
  await page.goto(lab.address(pathOf(lab.world.records.decision)))
  await page.getByRole('alert').getByText('Could not load linked records').waitFor()
})
