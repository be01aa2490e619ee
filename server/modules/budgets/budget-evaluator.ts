import { isUnavailable } from '../../../contract/domain-error.ts'
import { usdOfMicros } from '../../../contract/money.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { wantsKind } from '../../../contract/webhook-events.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { TelemetrySpending } from '../telemetry/summary/spending-types.ts'
import type { Endpoint, WebhookOutbox } from '../webhooks/webhooks-types.ts'
import { type BudgetPeriod, questionOf, reachedBy, runningPeriod, spentMicrosOf, usdOf } from './budget-figures.ts'
import type { BudgetMails } from './budget-mail.ts'
import { forecastMicros, periodAt, quarterOf } from './budget-period.ts'
import * as store from './budgets-store.ts'

const firedKind = 'budget.threshold_reached'
/** Time after the end of a period in which late events may still reach its thresholds. */
const lateMs = 3_600_000
/** Firings of periods that began before this time are deleted: nothing reports them again. */
const firingsKeptMs = 70 * 86_400_000

export interface BudgetEvaluatorDeps extends Pick<ModuleParts, 'database' | 'governance'> {
  spending: TelemetrySpending
  endpoints: { all(tx: TenantTx): Promise<readonly Endpoint[]> }
  outbox: Pick<WebhookOutbox, 'add'>
  mails: BudgetMails
  nowMs: () => number
}

/** Thresholds of a budget in one period that were reached and, when it was read, not reported. */
interface Crossing extends BudgetPeriod {
  spentMicros: bigint
  thresholds: readonly number[]
}

/** Reports the thresholds that budgets have reached. */
export class BudgetEvaluator {
  readonly #deps: BudgetEvaluatorDeps

  constructor(deps: BudgetEvaluatorDeps) {
    this.#deps = deps
  }

  /**
   * Evaluates the budgets of a tenant once. Several processes may do so at the same time: the row of a firing lets one
   * of them report it. A budget that cannot be evaluated does not delay the others.
   *
   * @returns the milliseconds until a period of a budget ends; undefined without budgets
   * @throws Error after the evaluation of all others if one fails; `hub-unavailable` at once
   */
  async evaluate(tenant: Tenant): Promise<number | undefined> {
    const nowMs = this.#deps.nowMs()
    const rows = await readTenant(this.#deps.database, tenant.slug, (tx) =>
      store.budgetsAfter(tx, undefined, Number.MAX_SAFE_INTEGER),
    )
    if (rows.length === 0) return undefined
    const [failure] = await this.#evaluateApart(tenant, rows, nowMs)
    if (failure) throw failure
    return Math.min(...rows.map((row) => runningPeriod(row, nowMs).period.endMs)) - nowMs
  }

  /** Evaluates budgets together and, if that fails, in halves, so that only the failing ones are left. */
  async #evaluateApart(tenant: Tenant, rows: readonly store.BudgetRow[], nowMs: number): Promise<Error[]> {
    try {
      await this.#evaluateAll(tenant, rows, nowMs)
      return []
    } catch (cause) {
      if (isUnavailable(cause)) throw cause
      if (rows.length === 1) {
        const reason = cause instanceof Error ? cause.message : String(cause)
        return [new Error(`cannot evaluate the budget ${rows[0]!.budget_id}: ${reason}`, { cause })]
      }
      const half = Math.ceil(rows.length / 2)
      const first = await this.#evaluateApart(tenant, rows.slice(0, half), nowMs)
      return [...first, ...(await this.#evaluateApart(tenant, rows.slice(half), nowMs))]
    }
  }

  async #evaluateAll(tenant: Tenant, rows: readonly store.BudgetRow[], nowMs: number): Promise<void> {
    const { database } = this.#deps
    const looks = rows.flatMap((row) => periodsOf(row, nowMs))
    const crossings = await readTenant(database, tenant.slug, (tx) => this.#crossings(tx, looks), {
      snapshot: true,
      summary: true,
    })
    for (const crossing of crossings) {
      await database.withTenant(tenant.slug, (tx) => this.#fire(tx, tenant, crossing, nowMs))
    }
    const closed = looks.filter(({ period }) => period.endMs + lateMs <= nowMs).map(({ row }) => row)
    if (closed.length === 0) return
    await database.withTenant(tenant.slug, (tx) => store.closePeriods(tx, closed, formatTimestamp(nowMs)))
  }

  /** Returns the thresholds that are reached and not reported yet. */
  async #crossings(tx: TenantTx, looks: readonly BudgetPeriod[]): Promise<Crossing[]> {
    const spending = await this.#deps.spending.spent(tx, looks.map(questionOf))
    const reached = looks.flatMap((look, place): Crossing[] => {
      const spentMicros = spentMicrosOf(look.row, spending[place]!)
      const thresholds = reachedBy(look.row, spentMicros)
      return thresholds.length > 0 ? [{ ...look, spentMicros, thresholds }] : []
    })
    if (reached.length === 0) return []
    const since = quarterOf(Math.min(...reached.map(({ period }) => period.startMs)))
    const ids = [...new Set(reached.map(({ row }) => row.budget_id))]
    const fired = new Set((await store.firingsSince(tx, ids, since)).map(nameOf))
    const crossings = reached.map((each) => ({
      ...each,
      thresholds: each.thresholds.filter((threshold) => !fired.has(nameOf({ ...keyOf(each), threshold }))),
    }))
    return crossings.filter(({ thresholds }) => thresholds.length > 0)
  }

  /** Reports thresholds, unless the budget has changed since the reading or another process has reported them. */
  async #fire(tx: TenantTx, tenant: Tenant, crossing: Crossing, nowMs: number): Promise<void> {
    const { row, spentMicros } = crossing
    if ((await store.heldRevision(tx, row.budget_id)) !== row.revision) return
    const key = keyOf(crossing)
    const firedAt = formatTimestamp(nowMs)
    const fired = await store.insertFirings(tx, key, crossing.thresholds, spentMicros, firedAt)
    if (fired.length === 0) return
    await store.deleteFiringsBefore(tx, row.budget_id, quarterOf(nowMs - firingsKeptMs))
    const { budget_id, ...common } = dataOf(crossing, nowMs)
    await this.#deps.governance.appendAll(
      tx,
      tenant,
      fired.map((threshold) => ({
        ...{ kind: firedKind, subject: `budget:${budget_id}`, actor: { service: 'budgets' } },
        details: { threshold, ...common },
      })),
    )
    const webhookIds = await this.#recipients(tx, row)
    if (webhookIds.length > 0) {
      const message = { kind: firedKind, occurredAt: firedAt, webhookIds }
      const messages = fired.map((threshold) => ({ ...message, data: { budget_id, threshold, ...common } }))
      await this.#deps.outbox.add(tx, messages)
    }
    const facts = { amountMicros: row.amount_micros, basis: row.basis, began: dateOf(crossing) }
    for (const threshold of fired) await this.#deps.mails.queue(tx, { ...key, threshold }, facts, row.emails)
  }

  /** Returns the endpoints that the budget names, and those that subscribe to the message, each once. */
  async #recipients(tx: TenantTx, { webhook_ids }: store.BudgetRow): Promise<string[]> {
    const endpoints = await this.#deps.endpoints.all(tx)
    const named = new Set(webhook_ids)
    const receives = ({ webhookId, events }: Endpoint) => named.has(webhookId) || wantsKind(events, firedKind)
    return endpoints.filter((each) => each.enabled && receives(each)).map(({ webhookId }) => webhookId)
  }
}

/**
 * Returns a budget in its running period and in the previous one, until that was evaluated after its end and the time
 * for late events: soon after, or when a process runs again. Settings that changed since its end do not apply to it.
 */
function periodsOf(row: store.BudgetRow, nowMs: number): BudgetPeriod[] {
  const running = runningPeriod(row, nowMs)
  const { startMs } = running.period
  const isClosed = row.closed_at !== null && Date.parse(row.closed_at) >= startMs + lateMs
  if (isClosed || Date.parse(row.updated_at) >= startMs) return [running]
  return [{ row, period: periodAt(startMs - 1, row.period, row.time_zone) }, running]
}

/** Returns the day with which a period begins, such as 2026-01-05. */
function dateOf({ row, period }: BudgetPeriod): string {
  return Temporal.Instant.fromEpochMilliseconds(period.startMs)
    .toZonedDateTimeISO(row.time_zone)
    .toPlainDate()
    .toString()
}

function keyOf({ row: { budget_id, period: length }, period }: BudgetPeriod) {
  return { budget_id, period: length, first_quarter: quarterOf(period.startMs) }
}

function nameOf({ budget_id, period, first_quarter, threshold }: store.Firing): string {
  return `${budget_id} ${period} ${first_quarter} ${threshold}`
}

/** Returns the members that a message and a governance event have in common. */
function dataOf({ row, period, spentMicros }: Crossing, nowMs: number) {
  return {
    ...{ budget_id: row.budget_id, name: row.name },
    amount_usd: usdOfMicros(row.amount_micros),
    spent_usd: usdOf(spentMicros),
    forecast_usd: usdOf(forecastMicros(spentMicros, period, nowMs)),
    ...{ basis: row.basis, period: row.period, time_zone: row.time_zone },
    period_start: formatTimestamp(period.startMs),
    period_end: formatTimestamp(period.endMs),
  }
}
