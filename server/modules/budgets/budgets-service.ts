import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import { DomainError, type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { budgetsMax } from '../../../contract/limits.ts'
import { mayCall } from '../../../contract/permissions.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonObject } from '../../../provenance/json.ts'
import { budgetsLockClass } from '../../db/advisory-locks.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import { openPage, type PageRequest } from '../../http/cursor.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { randomText } from '../../secrets/random-text.ts'
import type { TelemetrySpending } from '../telemetry/summary/spending-types.ts'
import { questionOf, runningPeriod, spentMicrosOf, toBudgetResponse } from './budget-figures.ts'
import { quarterOf } from './budget-period.ts'
import { changedState, described, newState, problemsOfSettings, requireWebhooks } from './budget-settings.ts'
import type { BudgetChanges, BudgetList, BudgetSchema, BudgetSettings } from './budgets-schemas.ts'
import * as store from './budgets-store.ts'

type Budget = Static<typeof BudgetSchema>

export interface BudgetsDeps extends Pick<ModuleParts, 'database' | 'governance' | 'cursorKey'> {
  spending: TelemetrySpending
  nowMs: () => number
}

/** Administers budgets. Methods about one budget throw `not-found` if it does not exist. */
export class Budgets {
  readonly #deps: BudgetsDeps

  constructor(deps: BudgetsDeps) {
    this.#deps = deps
  }

  /** Returns further problems of settings that may have invalid parts. */
  furtherProblems(sound: ValidParts<BudgetChanges>): PointedError[] {
    return problemsOfSettings(sound)
  }

  /** Creates a budget. Throws `validation-failed` for an unknown endpoint, or if there are too many budgets. */
  async create(caller: Caller, settings: BudgetSettings): Promise<Budget> {
    requireSound(settings)
    const budgetId = `bud_${randomText(24)}`
    await this.#locked(caller.tenant, async (tx) => {
      if ((await store.countBudgets(tx)) >= budgetsMax) {
        const detail = `exceeds the ${budgetsMax} budgets of a tenant; remove one first`
        throw validationFailed([{ pointer: '', detail }])
      }
      await requireWebhooks(tx, settings)
      const state = newState(settings)
      const at = formatTimestamp(this.#deps.nowMs())
      const made = { created_at: at, created_by: caller.subject, updated_at: at, revision: 1, closed_at: null }
      await store.insertBudget(tx, { budget_id: budgetId, ...state, ...made })
      await this.#written(tx, caller, budgetId, { change: 'budget_added', before: null, after: described(state) })
    })
    return this.get(caller, budgetId)
  }

  /** Returns a page of budgets, the oldest first. Throws `invalid-cursor`. */
  async list(caller: Caller, asked: PageRequest): Promise<Static<typeof BudgetList>> {
    const binding = { tenant: caller.tenant.slug, operation: 'listBudgets', query: {} }
    const page = openPage<store.BudgetPosition>(this.#deps.cursorKey, binding, asked)
    return this.#read(caller.tenant, async (tx) => {
      const rows = await store.budgetsAfter(tx, page.after, page.count)
      const { shown, next_cursor } = page.of(rows, (last) => [last.created_at, last.budget_id])
      return { items: await this.#answers(tx, caller, shown), next_cursor }
    })
  }

  get(caller: Caller, budgetId: string): Promise<Budget> {
    return this.#read(caller.tenant, async (tx) => {
      const [budget] = await this.#answers(tx, caller, [await existing(tx, budgetId)])
      return budget!
    })
  }

  /** Changes a budget. Thresholds that were reported in the running period are not reported again. */
  async update(caller: Caller, budgetId: string, changes: BudgetChanges): Promise<Budget> {
    requireSound(changes)
    await this.#locked(caller.tenant, async (tx) => {
      const row = await existing(tx, budgetId)
      await requireWebhooks(tx, changes)
      const { budget_id, created_at, created_by, updated_at, revision, closed_at: _, ...before } = row
      const after = changedState(before, changes)
      if (isDeepStrictEqual(before, after)) return
      const at = formatTimestamp(this.#deps.nowMs())
      const kept = { budget_id, created_at, created_by }
      await store.changeBudget(tx, { ...kept, ...after, updated_at: at, revision: revision + 1 })
      const isMailedElsewhere = !isDeepStrictEqual(before.emails, after.emails)
      await this.#written(tx, caller, budgetId, {
        ...{ change: 'budget', before: described(before), after: described(after) },
        ...(isMailedElsewhere && { emails_changed: true }),
        ...(before.filter.user_id !== after.filter.user_id && { filter_user_changed: true }),
      })
    })
    return this.get(caller, budgetId)
  }

  /** Removes a budget. */
  remove(caller: Caller, budgetId: string): Promise<void> {
    return this.#locked(caller.tenant, async (tx) => {
      const {
        budget_id,
        created_at: _c,
        created_by: _b,
        updated_at: _u,
        revision: _r,
        closed_at: _e,
        ...state
      } = await existing(tx, budgetId)
      await store.deleteBudget(tx, budget_id)
      await this.#written(tx, caller, budgetId, { change: 'budget_removed', before: described(state), after: null })
    })
  }

  /** Serialises changes of a tenant's budgets, which count them first. */
  #locked<T>(tenant: Tenant, work: (tx: TenantTx) => Promise<T>): Promise<T> {
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      await lockTenant(tx, budgetsLockClass)
      return work(tx)
    })
  }

  #read<T>(tenant: Tenant, work: (tx: TenantTx) => Promise<T>): Promise<T> {
    return readTenant(this.#deps.database, tenant.slug, work, { snapshot: true, summary: true })
  }

  async #answers(tx: TenantTx, caller: Caller, rows: readonly store.BudgetRow[]): Promise<Budget[]> {
    if (rows.length === 0) return []
    const nowMs = this.#deps.nowMs()
    const showsEmails = mayCall(caller.scopes, 'updateBudget')
    const running = rows.map((row) => runningPeriod(row, nowMs))
    const spending = await this.#deps.spending.spent(tx, running.map(questionOf))
    const since = quarterOf(Math.min(...running.map(({ period }) => period.startMs)))
    const ids = rows.map(({ budget_id }) => budget_id)
    const firings = Map.groupBy(await store.firingsSince(tx, ids, since), (firing) => firing.budget_id)
    return running.map((each, place) => {
      const { row, period } = each
      const ofPeriod = (firings.get(row.budget_id) ?? []).filter(
        (firing) => firing.period === row.period && firing.first_quarter === quarterOf(period.startMs),
      )
      const fired = ofPeriod.map(({ threshold }) => threshold)
      return toBudgetResponse(each, { spentMicros: spentMicrosOf(row, spending[place]!), fired, nowMs, showsEmails })
    })
  }

  async #written(tx: TenantTx, caller: Caller, budgetId: string, details: JsonObject): Promise<void> {
    const event = { kind: 'tenant.config_changed' as const, subject: `budget:${budgetId}`, actor: caller }
    await this.#deps.governance.append(tx, caller.tenant, { ...event, details: { ...details } as never })
  }
}

function requireSound(settings: BudgetChanges): void {
  const problems = problemsOfSettings(settings)
  if (problems.length > 0) throw validationFailed(problems)
}

async function existing(tx: TenantTx, budgetId: string): Promise<store.BudgetRow> {
  const row = await store.budgetById(tx, budgetId)
  if (row) return row
  throw new DomainError('not-found', 'The tenant has no budget with this id. GET /api/v1/budgets lists them.')
}
