import type { Database, TenantTx } from '../../../db/database.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import type { RecordClock } from '../../../records/record-clock.ts'
import type { TelemetryWindows } from '../../telemetry/summary/window-types.ts'
import type { Endpoints, WebhookOutbox } from '../webhooks-types.ts'
import { changeAlerts, createAlertEnds } from './alert-changes.ts'
import { AlertFindings, type OpenAlert } from './alert-findings.ts'
import { alertWindow } from './alert-rules.ts'
import type { AlertEvaluator } from './alert-types.ts'
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

export function createAlertEvaluator(deps: {
  database: Pick<Database, 'withTenant'>
  endpoints: Pick<Endpoints, 'all'>
  outbox: Pick<WebhookOutbox, 'add'>
  windows: TelemetryWindows
  clock: RecordClock
  nowMs: () => number
}): AlertEvaluator {
  const { database, endpoints, windows, nowMs } = deps
  const ends = createAlertEnds(deps)
  const looks = new Map<string, Look>()

  /** Returns the readings to do, and the endpoints whose alerts have no rule any more, or that are disabled. */
  async function overview(tenantId: string): Promise<{ readings: Reading[]; orphaned: string[] }> {
    const read = async (tx: TenantTx) => [await endpoints.all(tx), await store.rulesWithAlerts(tx)] as const
    const [all, withAlerts] = await database.withTenant(tenantId, read, { readOnly: true })
    const readings = await queryMetrics(all, createEventLoopYielder())
    const watched = new Set(readings.flatMap(({ watches }) => watches.map(nameOf)))
    const orphaned = withAlerts.filter((rule) => !watched.has(nameOf(rule))).map(({ webhookId }) => webhookId)
    return { readings, orphaned: [...new Set(orphaned)] }
  }

  /** Continues a reading, and returns whether it is complete. */
  async function goOn(tenantId: string, underWay: ReadingUnderWay, isOver: IsOver): Promise<boolean> {
    if (!underWay.isRead) {
      underWay.after = await database.withTenant(tenantId, (tx) => read(tx, underWay, isOver), {
        ...{ snapshot: true, readOnly: true },
      })
      underWay.isRead = underWay.after === undefined
      if (!underWay.isRead) return false
    }
    const found = underWay.findings!.endpoints
    for (const [webhookId, findings] of found) {
      if (findings.wasOpen.size > 0 || !findings.worst.isEmpty) {
        await database.withTenant(tenantId, async (tx) => {
          if (await store.lockAlerts(tx)) await changeAlerts(tx, deps, webhookId, findings, underWay.atMs)
        })
      }
      found.delete(webhookId)
      if (found.size > 0 && isOver()) return false
    }
    return true
  }

  /** Reads the windows: one snapshot for each turn, and all windows of a group from the same snapshot. */
  async function read(tx: TenantTx, underWay: ReadingUnderWay, isOver: IsOver): Promise<string | undefined> {
    const { scope, watches } = underWay.reading
    const findings = underWay.findings ?? new AlertFindings(watches)
    if (!underWay.findings) await addOpen(tx, findings, watches)
    const atMs = nowMs()
    const spans = findings.windowMinutes.map((minutes) => alertWindow(atMs, minutes))
    const latencies = watches.some(({ rule }) => rule.metric === 'latency_p95_ms')
    const after = await windows.eachGroup(
      tx,
      { ...scope, latencies, fromMs: spans.map(({ fromMs }) => fromMs), toMs: spans[0]!.toMs },
      { after: underWay.after, isOver, take: (key, at, group) => findings.take(key, at, group, atMs) },
    )
    underWay.findings = findings
    underWay.atMs = atMs
    return after
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

  return {
    async evaluate(tenantId, turnMsMax = Number.POSITIVE_INFINITY) {
      const beganMs = performance.now()
      const isOver = () => performance.now() - beganMs >= turnMsMax
      const { readings, orphaned } = await overview(tenantId)
      for (const webhookId of orphaned) await endOrphans(tenantId, webhookId)
      const look: Look = looks.get(tenantId) ?? { done: new Set(), underWay: undefined }
      looks.delete(tenantId)
      const isUnderWay = ({ name }: Reading) => name === look.underWay?.reading.name
      const left = readings.filter(({ name }) => !look.done.has(name))
      // A running reading continues before another one starts.
      const queue = [...left.filter(isUnderWay), ...left.filter((reading) => !isUnderWay(reading))]
      for (const [at, reading] of queue.entries()) {
        const underWay = look.underWay && isUnderWay(reading) ? look.underWay : begun(reading)
        const isDone = await goOn(tenantId, underWay, isOver)
        look.underWay = isDone ? undefined : underWay
        if (isDone) look.done.add(reading.name)
        if (!isDone || (isOver() && at < queue.length - 1)) {
          looks.set(tenantId, look)
          break
        }
      }
      return readings.length > 0 || orphaned.length > 0
    },
    forget: (tenantId) => void looks.delete(tenantId),
  }

  async function endOrphans(tenantId: string, webhookId: string): Promise<void> {
    await database.withTenant(tenantId, async (tx) => {
      if (!(await store.lockAlerts(tx))) return
      const rules = await store.heldRules(tx, webhookId)
      await (rules ? ends.rulesChanged(tx, webhookId, rules) : ends.forgotten(tx, webhookId))
    })
  }
}

function begun(reading: Reading): ReadingUnderWay {
  return { reading, findings: undefined, after: undefined, isRead: false, atMs: 0 }
}

function nameOf({ webhookId, ruleId }: { webhookId: string; ruleId: string }): string {
  return `${webhookId} ${ruleId}`
}
