import type { FastifyInstance } from 'fastify'
import { budgetsLockClass } from '../../db/advisory-locks.ts'
import type { Listener, TenantTx } from '../../db/database.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import { usersWithoutRecords } from '../../db/users-without-records.ts'
import type { JobSender } from '../../jobs/job-sender.ts'
import type { Mailer } from '../../mail/mailer.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { ErasedRecord } from '../erasure/erasure-types.ts'
import type { TelemetrySpending } from '../telemetry/summary/spending-types.ts'
import type { Endpoint, WebhookOutbox } from '../webhooks/webhooks-types.ts'
import { BudgetEvaluator } from './budget-evaluator.ts'
import { createBudgetLoop } from './budget-loop.ts'
import { createBudgetMails } from './budget-mail.ts'
import { addBudgetRoutes } from './budgets-routes.ts'
import { Budgets } from './budgets-service.ts'
import { eraseUsers } from './budgets-store.ts'

/** Deletes budgets of users without remaining records, and their addresses. */
async function eraseRecordCopies(tx: TenantTx, records: readonly ErasedRecord[]): Promise<void> {
  const users = [...new Set(records.flatMap(({ user_id }) => user_id ?? []))]
  if (users.length === 0) return
  const ids = records.map((record) => record.record_id)
  const gone = await usersWithoutRecords(tx, users, ids)
  if (gone.length === 0) return
  // Waits for budgets that are being changed.
  await lockTenant(tx, budgetsLockClass)
  await eraseUsers(tx, gone)
}

/** Creates the module of budgets: amounts for a period, and the reports when their thresholds are reached. */
export function createBudgetsModule(
  deps: Pick<ModuleParts, 'database' | 'masterKey' | 'governance' | 'cursorKey' | 'events' | 'directory' | 'log'> & {
    spending: TelemetrySpending
    webhooks: { endpoints: { all(tx: TenantTx): Promise<readonly Endpoint[]> }; outbox: Pick<WebhookOutbox, 'add'> }
    mailer: Pick<Mailer, 'available' | 'send'>
    jobSender: Pick<JobSender, 'send'>
    /** Listens for tenants for which other processes stored records. */
    listen: (wake: (tenantId: string) => void) => Listener
    /** Returns milliseconds since 1970; tests advance it. */
    wallMs: () => number
  },
) {
  const nowMs = deps.wallMs
  const findTenant = (slug: string) => deps.directory.find(slug)
  const mails = createBudgetMails({ ...deps, findTenant, nowMs })
  const budgets = new Budgets({ ...deps, nowMs })
  const evaluator = new BudgetEvaluator({ ...deps, ...deps.webhooks, mails, nowMs })
  const loop = createBudgetLoop({
    ...{ evaluator, findTenant, listen: deps.listen, log: deps.log },
    listTenants: () => deps.directory.slugs(),
  })
  // Telemetry events and changes of budgets are sealed records.
  deps.events.on('recordsSealed', ({ tenantId }) => loop.wake(tenantId))
  deps.events.onInTransaction('recordsErased', (tx, { records }) => eraseRecordCopies(tx, records))
  return {
    evaluator,
    jobs: [mails.job],
    routes: (app: FastifyInstance) => addBudgetRoutes(app, budgets),
    start: () => loop.start(),
    stop: () => loop.stop(),
  }
}
