import { takeMails } from '../../server/modules/budgets/budgets-store.ts'
import { addBudget, budgetsPath } from '../api/budget-cases.ts'
import { addWebhook, must } from '../api/webhook-cases.ts'
import type { TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'

/** All that sends SQL about budgets; some remain, which name the user that the walk of erasure erases. */
export async function walkBudgets(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const { webhook_id } = await addWebhook(hub, tenant)
  const notify = { emails: ['walked', 'other'].map((name) => `${name}@${tenant}.example`), webhook_ids: [webhook_id] }
  const { budget_id: id } = await addBudget(hub, tenant, { filter: {}, amount_usd: 0.000001, notify })
  for (const user of ['user:walked', 'user:other']) await addBudget(hub, tenant, { filter: { user_id: user } })
  await must(hub, tenant, 'PATCH', `${budgetsPath}/${id}`, { body: { name: 'Changed' } })
  const { next_cursor: cursor } = (await must(hub, tenant, 'GET', `${budgetsPath}?limit=1`)).body
  await must(hub, tenant, 'GET', `${budgetsPath}?limit=1&cursor=${cursor}`)
  const body = event({ ts: new Date().toISOString() })
  await must(hub, tenant, 'POST', '/api/v1/telemetry/events', { body })
  await hub.modules.budgets.evaluator.evaluate(await hub.tenant(tenant))
  const superuser = await hub.superuserClient()
  // An hour has passed since the last period ended.
  const long = new Date(Date.now() - 100 * 86_400_000).toISOString()
  await superuser.query('update hub.budgets set updated_at = $2 where tenant_id = $1', [tenant, long])
  await hub.modules.budgets.evaluator.evaluate(await hub.tenant(tenant))
  await must(hub, tenant, 'GET', `${budgetsPath}/${id}`)
  await hub.test.database.withTenant(tenant, (tx) => takeMails(tx, '2026-01-05', 1, 1))
  const firing = { budget_id: id, period: 'month', first_quarter: 0, threshold: 50 }
  for (const job of hub.modules.budgets.jobs)
    await job.handler({ data: { tenant, firing, recipient: 'nobody' }, signal: AbortSignal.timeout(60_000) })
  const { budget_id: removed } = await addBudget(hub, tenant)
  await must(hub, tenant, 'DELETE', `${budgetsPath}/${removed}`)
}
