import { createHmac } from 'node:crypto'
import { budgetMailsPerDayMax } from '../../../contract/limits.ts'
import { usdOfMicros } from '../../../contract/money.ts'
import { type Database, type DatabaseLog, readTenant, type TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { mailPage } from '../../http/mail-page.ts'
import { html } from '../../http/page.ts'
import type { JobSender } from '../../jobs/job-sender.ts'
import type { JobDefinition } from '../../jobs/queue.ts'
import { mailJobOptions, sendMailOfJob } from '../../mail/mail-job.ts'
import type { Mail, Mailer } from '../../mail/mailer.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import { usdOf } from './budget-figures.ts'
import { type BudgetRow, budgetById, type Firing, firingOf, takeMails } from './budgets-store.ts'

const jobName = 'mail-reached-budget'

/** Facts of a reached threshold that the budget may no longer have when the mail is sent. */
interface ReachedFacts extends Pick<BudgetRow, 'basis'> {
  amountMicros: number
  /** The day with which the period began, such as 2026-01-05. */
  began: string
}

/** The data of a job: no address, because the queue outlives erasures. */
interface MailJob {
  tenant: string
  firing: Firing
  facts: ReachedFacts
  /** Keyed hash of the recipient's address: the list may change before a retry. */
  recipient: string
}

/** Mails recipients of budgets, one job for each, so that a retry repeats no mail that was accepted. */
export interface BudgetMails {
  /**
   * Queues the mails about a firing with the transaction, up to the limit of the tenant for the day. Does nothing if the
   * service sends no mail.
   */
  queue(tx: TenantTx, firing: Firing, facts: ReachedFacts, addresses: readonly string[]): Promise<void>
  job: JobDefinition
}

export function createBudgetMails(deps: {
  database: Pick<Database, 'withTenant'>
  findTenant: (slug: string) => Promise<Tenant | undefined>
  mailer: Pick<Mailer, 'available' | 'send'>
  jobSender: Pick<JobSender, 'send'>
  log: Pick<DatabaseLog, 'warn'>
  masterKey: Buffer
  nowMs: () => number
}): BudgetMails {
  const { database, findTenant, mailer, jobSender, log, nowMs } = deps
  // Without the key, nobody can test whether an address is in the queue.
  const addressKey = deriveKey(deps.masterKey, 'recipients of budget mails')
  const hashOf = (address: string) => createHmac('sha256', addressKey).update(address).digest('base64url')

  async function carryOut({ tenant: slug, firing, facts, recipient }: MailJob): Promise<void> {
    const tenant = await findTenant(slug)
    if (!tenant) return
    const found = await readTenant(database, slug, async (tx) => {
      const row = await budgetById(tx, firing.budget_id)
      return { row, fired: row && (await firingOf(tx, firing)) }
    })
    const to = found.row?.emails.find((address) => hashOf(address) === recipient)
    if (!found.row || !found.fired || to === undefined) return
    const reached = { ...firing, ...facts, spentUsd: usdOf(BigInt(found.fired.spent_micros)) }
    const mail = budgetMail(to, tenant, found.row.name, reached)
    const details = { tenant: slug, budget: firing.budget_id }
    await sendMailOfJob({ mailer, log }, mail, details, 'a mail about a budget was rejected')
  }

  return {
    async queue(tx, firing, facts, addresses) {
      if (!mailer.available || addresses.length === 0) return
      const day = new Date(nowMs()).toISOString().slice(0, 10)
      const count = await takeMails(tx, day, addresses.length, budgetMailsPerDayMax)
      const notSent = addresses.length - count
      if (notSent > 0) {
        const details = { tenant: tx.tenantId, budget: firing.budget_id, notSent }
        log.warn(details, `a tenant sends at most ${budgetMailsPerDayMax} mails about budgets in a day`)
      }
      for (const address of addresses.slice(0, count)) {
        const order: MailJob = { tenant: tx.tenantId, firing, facts, recipient: hashOf(address) }
        await jobSender.send(jobName, order, { tx })
      }
    },
    job: {
      name: jobName,
      ...mailJobOptions,
      handler: ({ data }) => carryOut(data as MailJob),
    },
  }
}

const usd = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 6 })

/** Composes the message about a reached threshold: the same words as text and as HTML. */
function budgetMail(
  to: string,
  { slug, baseUrl }: Tenant,
  name: string,
  { threshold, period, amountMicros, basis, began, spentUsd }: Firing & ReachedFacts & { spentUsd: number },
): Mail {
  const subject = `Budget "${name}" reached ${threshold} %`
  const amount = usd.format(usdOfMicros(amountMicros))
  const fact = `The budget "${name}" of ${slug} reached ${threshold} % of ${amount} for the ${period} from ${began}.`
  const cost = `${basis === 'reported' ? 'Reported' : 'Calculated'} cost at that time: ${usd.format(spentUsd)}.`
  const url = `${baseUrl}/budgets`
  const reason = 'You receive this message because an administrator entered your address for this budget.'
  return {
    ...{ to, subject },
    text: `${fact}\n\n${cost}\n\nBudgets of ${slug}:\n${url}\n\n${reason}\n`,
    html: mailPage(subject, [
      html`<strong>${fact}</strong>`,
      html`${cost}`,
      html`<a href="${url}">Open the budgets of ${slug}</a>`,
      html`${reason}`,
    ]),
    consoleLine: `Mail to ${to}: ${fact}`,
  }
}
