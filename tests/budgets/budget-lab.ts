import type { JsonValue } from '../../provenance/index.ts'
import { BudgetEvaluator } from '../../server/modules/budgets/budget-evaluator.ts'
import type { BudgetMails } from '../../server/modules/budgets/budget-mail.ts'
import { telemetrySpending } from '../../server/modules/telemetry/summary/spending-reader.ts'
import type { WebhookOutbox } from '../../server/modules/webhooks/webhooks-types.ts'
import { budgetsPath } from '../api/budget-cases.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { must } from '../api/webhook-cases.ts'
import { startHub, type TestHub, type TestHubOptions } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { takeDescribed } from '../webhooks/queued-messages.ts'

export interface BudgetLab {
  hub: TestHub
  /** The time of evaluations, in the past: events of every time around it are taken. */
  nowMs: number
  /** A process that evaluates at {@link nowMs}. */
  process(other?: { outbox?: Pick<WebhookOutbox, 'add'>; mails?: BudgetMails['queue'] }): BudgetEvaluator
  /** Ingests an event of this cost and time. */
  spend(usd: number, ts: string, change?: Record<string, JsonValue>): Promise<void>
  /** Evaluates once, and answers thresholds and budgets of the messages that it queued. */
  look(at: string): Promise<[budget: JsonValue | undefined, threshold: JsonValue | undefined][]>
  change(id: string, body: object): Promise<void>
  /** Makes a budget as old as the evaluations: its period may have ended since it was changed. */
  age(id: string, at: string): Promise<void>
  /** Thresholds in the governance events of a budget, the oldest first. */
  events(id: string): Promise<number[]>
}

export async function startBudgetLab(options: TestHubOptions = {}): Promise<BudgetLab> {
  const hub = await startHub(options)
  await prepareTelemetry(hub, 'acme')
  const { webhooks, governance } = hub.modules
  const lab: BudgetLab = {
    hub,
    nowMs: Date.parse('2026-01-07T12:00:00Z'),
    process: ({ outbox = webhooks.outbox, mails = async () => {} } = {}) =>
      new BudgetEvaluator({
        ...{ database: hub.test.database, governance, spending: telemetrySpending, outbox },
        ...{ endpoints: webhooks.endpoints, mails: { queue: mails } as BudgetMails, nowMs: () => lab.nowMs },
      }),
    async spend(usd, ts, change = {}) {
      const body = event({ ts, cost_usd_estimate: usd, ...change })
      await must(hub, 'acme', 'POST', '/api/v1/telemetry/events', { body })
    },
    async look(at) {
      lab.nowMs = Date.parse(at)
      await process.evaluate(await hub.tenant('acme'))
      const messages = await takeDescribed(hub, 'acme')
      return messages.map(({ data }) => [data.name, data.threshold])
    },
    async change(id, body) {
      await must(hub, 'acme', 'PATCH', `${budgetsPath}/${id}`, { body })
      await lab.age(id, '2026-01-01T00:00:00Z')
    },
    async age(id, at) {
      const superuser = await hub.superuserClient()
      await superuser.query('update hub.budgets set updated_at = $2, closed_at = null where budget_id = $1', [id, at])
    },
    async events(id) {
      const query = 'event_kind=budget.threshold_reached&limit=1000&sort=created_at'
      const { records } = (await must(hub, 'acme', 'GET', `/api/v1/hub/records?${query}`)).body
      const own = records.filter(({ subject }: { subject: string }) => subject === `budget:${id}`)
      return own.map(({ details }: { details: { threshold: number } }) => details.threshold)
    },
  }
  const process = lab.process()
  return lab
}
