import { afterAll, beforeAll, expect, test } from 'vitest'
import { eraseUsers } from '../../server/modules/budgets/budgets-store.ts'
import { addBudget, budgetsPath } from '../api/budget-cases.ts'
import { must } from '../api/webhook-cases.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

test('budgets of an erased user are deleted, and the addresses of that user leave the others', async () => {
  const notify = { emails: ['kim@acme.example', 'Boss@acme.example'], webhook_ids: [] }
  const own = await addBudget(hub, 'acme', { name: 'own', filter: { user_id: 'user:Kim@acme.example' } })
  const shared = await addBudget(hub, 'acme', { name: 'shared', filter: {}, notify })
  const other = await addBudget(hub, 'globex', { name: 'other', filter: {}, notify })
  await hub.test.database.withTenant('acme', (tx) => eraseUsers(tx, ['user:Kim@acme.example']))
  expect((await hub.call('acme', 'GET', `${budgetsPath}/${own.budget_id}`)).status).toBe(404)
  const emailsOf = async (tenant: 'acme' | 'globex', id: string) =>
    (await must(hub, tenant, 'GET', `${budgetsPath}/${id}`)).body.notify.emails
  expect(await emailsOf('acme', shared.budget_id)).toEqual(['Boss@acme.example'])
  expect(await emailsOf('globex', other.budget_id)).toEqual(notify.emails)
})
