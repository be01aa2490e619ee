import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBudgetMails } from '../../server/modules/budgets/budget-mail.ts'
import { firingsSince } from '../../server/modules/budgets/budgets-store.ts'
import { addBudget, budgetsPath } from '../api/budget-cases.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { must } from '../api/webhook-cases.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { event } from '../telemetry/events.ts'

let mail: MailServer
let hub: TestHub
beforeAll(async () => {
  mail = await startMailServer()
  hub = await startHub({ settings: { HUB_SMTP_URL: mail.url } })
  await prepareTelemetry(hub, 'acme')
  hub.modules.budgets.start()
})
afterAll(async () => {
  await hub.modules.budgets.stop()
  await hub.stop()
  await mail.close()
})

test('the loop mails every recipient once, and an address that is refused delays nobody', async () => {
  const emails = ['finance@acme.example', 'ops@acme.example']
  const budget = await addBudget(hub, 'acme', {
    name: 'Käse & Co',
    amount_usd: 10,
    thresholds: [80],
    notify: { emails },
  })
  mail.refuse(1, 550)
  const body = event({ ts: new Date().toISOString(), cost_usd_estimate: 8.25 })
  await must(hub, 'acme', 'POST', '/api/v1/telemetry/events', { body })
  const { to, message } = await mail.next()
  expect(emails).toContain(to[0])
  expect(message.subject).toBe('Budget "Käse & Co" reached 80 %')
  for (const text of [
    message.text,
    message.html?.replaceAll('&quot;', '"').replaceAll('&amp;', '&').replaceAll('&#34;', '"'),
  ]) {
    expect(text).toContain('The budget "Käse & Co" of acme reached 80 % of $10.00 for this month.')
    expect(text).toContain('Reported cost so far: $8.25.')
  }
  await expect.poll(() => mail.refused()).toBe(1)
  const again = event({ ts: new Date().toISOString(), cost_usd_estimate: 1 })
  await must(hub, 'acme', 'POST', '/api/v1/telemetry/events', { body: again })
  await hub.modules.budgets.evaluator.evaluate(await hub.tenant('acme'))
  const { records } = (await must(hub, 'acme', 'GET', '/api/v1/hub/records?event_kind=budget.threshold_reached')).body
  expect(records.map(({ subject }: { subject: string }) => subject)).toEqual([`budget:${budget.budget_id}`])
  expect(mail.received).toHaveLength(1)
})

test('a mail that waits goes to its recipient or to nobody, whatever the list of addresses becomes', async () => {
  const budget = await addBudget(hub, 'acme', { name: 'Moved', filter: {}, amount_usd: 1, notify: {} })
  const body = event({ ts: new Date().toISOString(), cost_usd_estimate: 2 })
  await must(hub, 'acme', 'POST', '/api/v1/telemetry/events', { body })
  await hub.modules.budgets.evaluator.evaluate(await hub.tenant('acme'))

  const orders: object[] = []
  const sent: string[] = []
  const mails = createBudgetMails({
    ...{ database: hub.test.database, findTenant: () => hub.tenant('acme'), log: { warn: () => {} } },
    mailer: { available: true, send: async ({ to }) => void sent.push(to) },
    jobSender: { send: async (_name, order) => void orders.push(order) },
    masterKey: Buffer.alloc(32, 1),
  })
  await hub.test.database.withTenant('acme', async (tx) => {
    const [firing] = await firingsSince(tx, [budget.budget_id], 0)
    await mails.queue(tx, firing!, ['removed@acme.example', 'kept@acme.example'])
  })
  expect(orders).toHaveLength(2)
  expect(JSON.stringify(orders)).not.toContain('acme.example')

  const notify = { emails: ['kept@acme.example', 'added@acme.example'] }
  await must(hub, 'acme', 'PATCH', `${budgetsPath}/${budget.budget_id}`, { body: { notify } })
  for (const data of orders) await mails.job.handler({ data, signal: new AbortController().signal })
  expect(sent).toEqual(['kept@acme.example'])
})
