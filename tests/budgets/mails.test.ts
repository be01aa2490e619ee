import { afterAll, beforeAll, expect, test } from 'vitest'
import { budgetMailsPerDayMax } from '../../contract/limits.ts'
import { jobSchema } from '../../server/db/job-schema.ts'
import type { Mail } from '../../server/mail/mailer.ts'
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

/** Counts the jobs of mails about budgets in these states. */
async function mailJobs(states: readonly string[]): Promise<number> {
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query<{ count: string }>(
    `select count(*) from ${jobSchema}.job where name = 'mail-reached-budget' and state::text = any ($1)`,
    [states],
  )
  return Number(rows[0]!.count)
}

test('the loop mails every recipient once, and an address that is refused delays nobody', async () => {
  const emails = ['finance@acme.example', 'ops@acme.example']
  const budget = await addBudget(hub, 'acme', {
    name: 'Käse & Co',
    amount_usd: 10,
    time_zone: 'UTC',
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
    const began = budget.period_start.slice(0, 10)
    expect(began).toMatch(/^\d{4}-\d\d-01$/)
    expect(text).toContain(`The budget "Käse & Co" of acme reached 80 % of $10.00 for the month from ${began}.`)
    expect(text).toContain('Reported cost at that time: $8.25.')
  }
  await expect.poll(() => mail.refused()).toBe(1)
  const again = event({ ts: new Date().toISOString(), cost_usd_estimate: 1 })
  await must(hub, 'acme', 'POST', '/api/v1/telemetry/events', { body: again })
  await hub.modules.budgets.evaluator.evaluate(await hub.tenant('acme'))
  const { records } = (await must(hub, 'acme', 'GET', '/api/v1/hub/records?event_kind=budget.threshold_reached')).body
  expect(records.map(({ subject }: { subject: string }) => subject)).toEqual([`budget:${budget.budget_id}`])
  // Another firing would have queued further jobs by now: none is left, and there was one for each recipient.
  await expect.poll(() => mailJobs(['created', 'retry', 'active'])).toBe(0)
  expect(await mailJobs(['completed', 'failed', 'cancelled'])).toBe(emails.length)
  expect(mail.received).toHaveLength(1)
  expect(mail.refused()).toBe(1)
})

/** Mails whose orders and messages are kept instead of sent. */
function keptMails(log = { warn: (_details: object, _message: string) => {} }) {
  const orders: object[] = []
  const sent: Mail[] = []
  const mails = createBudgetMails({
    ...{ database: hub.test.database, findTenant: () => hub.tenant('acme'), log, nowMs: () => day },
    mailer: { available: true, send: async (each) => void sent.push(each) },
    jobSender: { send: async (_name, order) => void orders.push(order) },
    masterKey: Buffer.alloc(32, 1),
  })
  const sendAll = async () => {
    for (const data of orders.splice(0)) await mails.job.handler({ data, signal: new AbortController().signal })
  }
  return { orders, sent, mails, sendAll }
}

let day = Date.parse('2026-01-05T23:59:59Z')
const facts = { amountMicros: 1_000_000, basis: 'reported', began: '2026-01-01' } as const

/** A budget of which one threshold was reported. */
async function reachedBudget(name: string) {
  const { budget_id } = await addBudget(hub, 'acme', { name, filter: {}, amount_usd: 1, thresholds: [50], notify: {} })
  const body = event({ ts: new Date().toISOString(), cost_usd_estimate: 2 })
  await must(hub, 'acme', 'POST', '/api/v1/telemetry/events', { body })
  await hub.modules.budgets.evaluator.evaluate(await hub.tenant('acme'))
  const [firing] = await hub.test.database.withTenant('acme', (tx) => firingsSince(tx, [budget_id], 0))
  return { path: `${budgetsPath}/${budget_id}`, firing: firing! }
}

test('a mail that waits goes to its recipient or to nobody, whatever the list of addresses becomes', async () => {
  const { path, firing } = await reachedBudget('Moved')
  const { orders, sent, mails, sendAll } = keptMails()
  await hub.test.database.withTenant('acme', (tx) =>
    mails.queue(tx, firing, facts, ['removed@acme.example', 'kept@acme.example']),
  )
  expect(orders).toHaveLength(2)
  expect(JSON.stringify(orders)).not.toContain('acme.example')

  const notify = { emails: ['kept@acme.example', 'added@acme.example'] }
  await must(hub, 'acme', 'PATCH', path, { body: { notify } })
  await sendAll()
  expect(sent.map(({ to }) => to)).toEqual(['kept@acme.example'])
})

test('a mail that waits states the amount and cost of the firing, whatever the budget becomes', async () => {
  const { path, firing } = await reachedBudget('Raised')
  const { sent, mails, sendAll } = keptMails()
  const emails = ['kept@acme.example']
  await hub.test.database.withTenant('acme', (tx) => mails.queue(tx, firing, facts, emails))
  const body = { amount_usd: 777, basis: 'calculated', period: 'day', time_zone: 'Asia/Tokyo', notify: { emails } }
  await must(hub, 'acme', 'PATCH', path, { body })
  await sendAll()
  expect(sent).toHaveLength(1)
  expect(sent[0]!.text).toContain('reached 50 % of $1.00 for the month from 2026-01-01.')
  expect(sent[0]!.text).toMatch(/Reported cost at that time: \$\d/)
  expect(sent[0]!.text).not.toContain('777')
})

test('a tenant sends so many mails in a day and no more; the next day it does again', async () => {
  const warnings: object[] = []
  const { orders, mails } = keptMails({ warn: (details) => void warnings.push(details) })
  const { firing } = await reachedBudget('Many')
  const addresses = (count: number) => Array.from({ length: count }, (_, at) => `a${at}@acme.example`)
  const queue = async (count: number) => {
    orders.length = 0
    await hub.test.database.withTenant('globex', (tx) => mails.queue(tx, firing, facts, addresses(count)))
    return orders.length
  }
  day = Date.parse('2026-02-05T23:59:59Z')
  expect(await queue(budgetMailsPerDayMax - 1)).toBe(budgetMailsPerDayMax - 1)
  expect(warnings).toEqual([])
  expect(await queue(20)).toBe(1)
  expect(await queue(20)).toBe(0)
  const details = { tenant: 'globex', budget: firing.budget_id }
  expect(warnings).toEqual([
    { ...details, notSent: 19 },
    { ...details, notSent: 20 },
  ])
  day += 1000
  expect(await queue(20)).toBe(20)
  // A process whose clock is behind counts for the later day.
  day -= 1000
  expect(await queue(budgetMailsPerDayMax)).toBe(budgetMailsPerDayMax - 20)
})
