import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startUiLab, type UiLab } from '../../browser/ui-lab.ts'
import { scaled } from '../../support/machine-speed.ts'

/** As many as the Hub answers at once: one record, those it names, and those that they name. */
const middles = 37
const leavesOfEach = 26
const all = 1 + middles * (1 + leavesOfEach)
/** Much less than drawing all records would take. */
const taskMaxMs = scaled(200)

let lab: UiLab
let root: string
beforeAll(async () => {
  lab = await startUiLab({ events: 50 })
  const name = async (title: string, related_records: readonly string[]): Promise<string> => {
    const content = { excerpt: 'Of a large graph' }
    const body = { record_type: 'artifact', title, media_type: 'text/plain', uri: 'https://wiki.acme.example/1' }
    const answer = await lab.hub.call('acme', 'POST', '/api/v1/hub/records', {
      body: { ...body, content, related_records },
    })
    expect(answer.status).toBe(201)
    return answer.body.record_id
  }
  const many = (count: number, of: (index: number) => Promise<string>) =>
    Promise.all(Array.from({ length: count }, (_, index) => of(index)))
  const named: string[] = []
  for (let middle = 0; middle < middles; middle++) {
    const leaves = await many(leavesOfEach, (leaf) => name(`Leaf ${middle}.${leaf}`, []))
    named.push(await name(`Middle ${middle}`, leaves))
  }
  root = await name('Root', named)
})
afterAll(() => lab?.stop())
afterEach(async () => {
  await Promise.all(lab.browser.contexts().map((context) => context.close()))
  expect(lab.complaints.splice(0)).toEqual([])
})

const watchTasks = `
  window.tasks = []
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask' })`
/** What was begun is drawn, and long tasks are told of. */
const drawn = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))'

/** Tasks that were longer than anybody should wait for while the work was done: of three times the fewest. */
async function longTasks(page: Page, work: () => Promise<unknown>, prepare = async () => {}): Promise<number[]> {
  const found: number[][] = []
  for (let time = 0; time < 3 && found.every(({ length }) => length > 0); time++) {
    await prepare()
    await page.evaluate('window.tasks.length = 0')
    await work()
    await page.evaluate(drawn)
    const tasks = (await page.evaluate('window.tasks')) as number[]
    found.push(tasks.filter((ms) => ms > taskMaxMs).map(Math.round))
  }
  return found.sort((one, other) => one.length - other.length)[0] ?? []
}

test('a graph of a thousand records is drawn in part, and moving through it keeps nobody waiting', async () => {
  const context = await lab.profileOf('admin')
  await context.addInitScript(watchTasks)
  const page = await context.newPage()
  await page.goto(lab.address(`/records/${root}/graph?depth=2&direction=out`))
  const graph = page.getByRole('group', { name: 'Graph of linked records' })
  await graph.getByRole('button', { name: /where the graph begins/ }).waitFor()
  await page.getByText(`${all.toLocaleString('en-GB')} records`, { exact: false }).waitFor()
  const box = await graph.boundingBox()
  const [x, y] = [box!.x + 300, box!.y + box!.height - 20]
  const found: Record<string, number[]> = {}
  found.walking = await longTasks(page, async () => {
    await graph.locator('[data-graph-node][tabindex="0"]').focus()
    for (let step = 0; step < 20; step++) await page.keyboard.press(step % 2 ? 'ArrowDown' : 'ArrowRight')
  })
  found.moving = await longTasks(page, async () => {
    await page.mouse.move(x, y)
    await page.mouse.down()
    for (let step = 0; step < 40; step++) await page.mouse.move(x - step * 5, y - step * 8)
    await page.mouse.up()
  })
  found.zooming = await longTasks(page, async () => {
    for (let step = 0; step < 20; step++) await page.mouse.wheel(0, step < 10 ? 100 : -100)
  })
  const more = graph.getByRole('button', { name: /^\+\d+ more/ })
  const open = () => more.first().dispatchEvent('click')
  found.opening = await longTasks(page, open, async () => {
    await page.reload()
    await more.first().waitFor()
    await page.evaluate(drawn)
  })
  expect(found).toEqual({ moving: [], zooming: [], walking: [], opening: [] })
})
