import { type Database, type DatabaseLog, readTenant, type TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import { TenantLoop } from '../../../jobs/tenant-loop.ts'
import type { RecordClock } from '../../../records/record-clock.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { TelemetryWindows } from '../../telemetry/summary/window-types.ts'
import type { Endpoints } from '../endpoints/endpoints.ts'
import type { WebhookOutbox } from '../webhooks-types.ts'
import { AlertEnds, changeAlerts } from './alert-changes.ts'
import { AlertFindings, type OpenAlert, watchName } from './alert-findings.ts'
import { alertWindow } from './alert-rules.ts'
import * as store from './alerts-store.ts'
import { queryMetrics, type Reading } from './metric-queries.ts'

/** Maximum number of names of open alerts that are read at once. */
const namesAtOnce = 5_000

/** A reading that may have started in an earlier turn. */
interface ReadingUnderWay {
  reading: Reading
  findings: AlertFindings | undefined
  /** The key after which the rest follows. With `isRead`, only changes of alerts remain. */
  after: string | undefined
  isRead: boolean
  atMs: number
}

/** One pass over a tenant, in as many turns as it takes. */
interface Look {
  /** Names of the completed readings. */
  done: Set<string>
  underWay: ReadingUnderWay | undefined
}

type IsOver = () => boolean

/** Opens and closes the alerts of tenants. */
export class AlertEvaluator {
  readonly #deps: AlertEvaluatorDeps
  readonly #ends: AlertEnds
  /** Unfinished passes by tenant. */
  readonly #looks = new Map<string, Look>()

  constructor(deps: AlertEvaluatorDeps) {
    this.#deps = deps
    this.#ends = new AlertEnds(deps)
  }

  /**
   * Evaluates the rules of a tenant once: opens and closes alerts, and queues their messages. A pass that exceeds its
   * turn ends there, and the next one continues it. Returns whether there was anything to evaluate.
   *
   * @param turnMsMax the turn in milliseconds; unlimited if absent
   */
  async evaluate(tenant: Tenant, turnMsMax = Number.POSITIVE_INFINITY): Promise<boolean> {
    const tenantId = tenant.slug
    const beganMs = performance.now()
    const isOver = () => performance.now() - beganMs >= turnMsMax
    const { readings, orphaned } = await this.#overview(tenantId)
    for (const webhookId of orphaned) await this.#endOrphans(tenantId, webhookId)
    const look: Look = this.#looks.get(tenantId) ?? { done: new Set(), underWay: undefined }
    this.#looks.delete(tenantId)
    const isUnderWay = ({ name }: Reading) => name === look.underWay?.reading.name
    const left = readings.filter(({ name }) => !look.done.has(name))
    // A running reading continues before another one starts.
    const queue = [...left.filter(isUnderWay), ...left.filter((reading) => !isUnderWay(reading))]
    for (const [at, reading] of queue.entries()) {
      const underWay = look.underWay && isUnderWay(reading) ? look.underWay : begun(reading)
      const isDone = await this.#goOn(tenant, underWay, isOver)
      look.underWay = isDone ? undefined : underWay
      if (isDone) look.done.add(reading.name)
      if (!isDone || (isOver() && at < queue.length - 1)) {
        this.#looks.set(tenantId, look)
        break
      }
    }
    return readings.length > 0 || orphaned.length > 0
  }

  /** Drops the unfinished pass of a tenant that no longer exists. */
  forget(tenantId: string): void {
    this.#looks.delete(tenantId)
  }

  /** Returns the readings to do, and the endpoints whose alerts have no rule any more, or that are disabled. */
  async #overview(tenantId: string): Promise<{ readings: Reading[]; orphaned: string[] }> {
    const { database, endpoints } = this.#deps
    const read = async (tx: TenantTx) => [await endpoints.all(tx), await store.rulesWithAlerts(tx)] as const
    const [all, withAlerts] = await readTenant(database, tenantId, read)
    const readings = await queryMetrics(all, createEventLoopYielder())
    const watched = new Set(readings.flatMap(({ watches }) => watches.map(watchName)))
    const orphaned = withAlerts.filter((rule) => !watched.has(watchName(rule))).map(({ webhookId }) => webhookId)
    return { readings, orphaned: [...new Set(orphaned)] }
  }

  async #endOrphans(tenantId: string, webhookId: string): Promise<void> {
    await this.#deps.database.withTenant(tenantId, async (tx) => {
      if (!(await store.lockAlerts(tx))) return
      const rules = await store.heldRules(tx, webhookId)
      await (rules ? this.#ends.rulesChanged(tx, webhookId, rules) : this.#ends.forgotten(tx, webhookId))
    })
  }

  /** Continues a reading, and returns whether it is complete. */
  async #goOn(tenant: Tenant, underWay: ReadingUnderWay, isOver: IsOver): Promise<boolean> {
    const { database } = this.#deps
    if (!underWay.isRead) {
      const read = (tx: TenantTx) => this.#read(tx, underWay, isOver)
      underWay.after = await readTenant(database, tenant.slug, read, { snapshot: true })
      underWay.isRead = underWay.after === undefined
      if (!underWay.isRead) return false
    }
    const found = underWay.findings!.endpoints
    for (const [webhookId, findings] of found) {
      if (findings.wasOpen.size > 0 || !findings.worst.isEmpty) {
        await database.withTenant(tenant.slug, async (tx) => {
          if (await store.lockAlerts(tx)) await changeAlerts(tx, this.#deps, tenant, webhookId, findings, underWay.atMs)
        })
      }
      found.delete(webhookId)
      if (found.size > 0 && isOver()) return false
    }
    return true
  }

  /** Reads the windows: one snapshot for each turn, and all windows of a group from the same snapshot. */
  async #read(tx: TenantTx, underWay: ReadingUnderWay, isOver: IsOver): Promise<string | undefined> {
    const { scope, watches } = underWay.reading
    const findings = underWay.findings ?? new AlertFindings(watches)
    if (!underWay.findings) await addOpen(tx, findings, watches)
    const atMs = this.#deps.nowMs()
    const spans = findings.windowMinutes.map((minutes) => alertWindow(atMs, minutes))
    const latencies = watches.some(({ rule }) => rule.metric === 'latency_p95_ms')
    const after = await this.#deps.windows.eachGroup(
      tx,
      { ...scope, latencies, fromMs: spans.map(({ fromMs }) => fromMs), toMs: spans[0]!.toMs },
      { after: underWay.after, isOver, take: (key, at, group) => findings.take(key, at, group, atMs) },
    )
    underWay.findings = findings
    underWay.atMs = atMs
    return after
  }
}

export interface AlertEvaluatorDeps {
  database: Pick<Database, 'withTenant'>
  endpoints: Pick<Endpoints, 'all'>
  governance: Pick<GovernanceLog, 'appendAll'>
  outbox: Pick<WebhookOutbox, 'add'>
  windows: TelemetryWindows
  clock: RecordClock
  nowMs: () => number
}

async function addOpen(tx: TenantTx, findings: AlertFindings, watches: Reading['watches']): Promise<void> {
  const ruleIds = [...new Set(watches.map(({ ruleId }) => ruleId))]
  const yieldIfLong = createEventLoopYielder()
  let last: OpenAlert | undefined
  for (;;) {
    const names = await store.openNames(tx, ruleIds, last, namesAtOnce)
    for (const name of names) {
      findings.addOpen(name)
      await yieldIfLong()
    }
    last = names.at(-1)
    if (names.length < namesAtOnce) return
  }
}

function begun(reading: Reading): ReadingUnderWay {
  return { reading, findings: undefined, after: undefined, isRead: false, atMs: 0 }
}

/** Milliseconds between evaluations of a tenant with rules. */
const evaluateMs = 10_000
/** Milliseconds after which an evaluation continues later, so that a large tenant does not delay all others. */
const evaluateMsMax = 1_000
/**
 * Rests take at least this many times as long as evaluations, regardless of the size of a tenant and of the changes to
 * its rules.
 */
const restFactor = 10
/** Milliseconds between evaluations of a tenant without rules: another process may have added one. */
const idleMs = 30_000

/**
 * Creates the loop that evaluates alerts. Wake it when a tenant's endpoints change. Several processes may run one: if
 * two meet at a tenant, one skips it.
 */
export function createAlertLoop(deps: {
  evaluator: Pick<AlertEvaluator, 'evaluate' | 'forget'>
  findTenant: (slug: string) => Promise<Tenant | undefined>
  listTenants: () => Promise<readonly string[]>
  log: Pick<DatabaseLog, 'warn' | 'error'>
  nowMs?: () => number
}): TenantLoop {
  const { evaluator, findTenant, listTenants, log, nowMs = () => performance.now() } = deps
  return new TenantLoop({
    async visit(tenantId) {
      const beganMs = nowMs()
      const tenant = await findTenant(tenantId)
      if (!tenant) {
        evaluator.forget(tenantId)
        return undefined
      }
      const hasRules = await evaluator.evaluate(tenant, evaluateMsMax)
      const restMs = (nowMs() - beganMs) * restFactor
      return { inMs: Math.max(hasRules ? evaluateMs : idleMs, restMs), restMs }
    },
    ...{ listTenants, log, nowMs },
    listMs: 30_000,
    concurrency: 2,
    messages: {
      unavailable: 'alerts are not evaluated while the database is unavailable',
      failed: 'could not evaluate the alerts of a tenant',
      unlisted: 'the tenants could not be listed to evaluate their alerts',
    },
  })
}
