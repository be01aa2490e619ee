import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { addBudget, budgetsPath } from './budget-cases.ts'
import { accessCases, slugOf } from './connector-cases.ts'

let hub: TestHub
let budget: string
beforeAll(async () => {
  hub = await startHub()
  budget = (await addBudget(hub)).budget_id
})
afterAll(() => hub.stop())

test('is gone, and a second time 404', async () => {
  const { budget_id } = await addBudget(hub)
  const path = `${budgetsPath}/${budget_id}`
  const removed = await hub.call('acme', 'DELETE', path)
  expect([removed.status, removed.text]).toEqual([204, ''])
  for (const method of ['GET', 'DELETE']) {
    const answer = await hub.call('acme', method, path)
    expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
  }
  expect((await hub.call('acme', 'GET', budgetsPath)).body.items).toHaveLength(1)
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'DELETE', path: `${budgetsPath}/${budget}` }),
  wrongScopes: ['telemetry:read', 'telemetry:write'],
  otherTenant: 404,
})
