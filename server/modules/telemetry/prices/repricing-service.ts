import { randomUUIDv7 } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { DomainError, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { eventFutureMinutesMax } from '../../../../contract/limits.ts'
import { formatTimestamp, parseTimestamp } from '../../../../contract/timestamp.ts'
import { canonicalize } from '../../../../provenance/index.ts'
import { type Database, type DatabaseLog, readTenant, type TenantTx } from '../../../db/database.ts'
import type { ProofRules } from '../../../db/row-proofs.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { JobDefinition } from '../../../jobs/queue.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import { recordIdFloor } from '../../../records/record-clock.ts'
import { adjustSums } from '../adjustments/adjustment-store.ts'
import { usdOfExactMicros } from '../summary/summary-response.ts'
import { repricePart } from './repricing-part.ts'
import { findRun, insertRun, lockRepricing, type RepricingRun, saveRun } from './repricing-store.ts'
import type { RepricingRange, RepricingRequest, RepricingResult, TelemetryRepricing } from './repricing-types.ts'
import type { TenantPrices } from './tenant-prices.ts'

/**
 * Milliseconds after the start of a run from which every process uses the new prices: books are at most one second old.
 */
const staleBookMsMax = 2000

export interface RepricingRuns extends TelemetryRepricing {
  /**
   * Runs a repricing, or the rest of it. Repeating an ended run changes nothing.
   *
   * @param signal stops it between two parts, by throwing its reason
   */
  run(tenant: Tenant, order: RepricingRequest, signal?: AbortSignal): Promise<RepricingResult>
}

export function createRepricingRuns(
  deps: Pick<ModuleParts, 'database' | 'governance'> & {
    prices: Pick<TenantPrices, 'bookWithin'>
    /** Queues a run for `run`. */
    send(tenant: Tenant, order: RepricingRequest): Promise<void>
    /** Called after each commit that changed the rollups of a tenant. */
    rated: (tenantId: string) => void
    log: Pick<DatabaseLog, 'error'>
    nowMs?: () => number
    settleMs?: number
  },
): RepricingRuns {
  const { database, prices, governance, nowMs = Date.now, settleMs = staleBookMsMax } = deps

  function begin(tenant: Tenant, { runId, range }: RepricingRequest): Promise<void> {
    // An event is stored at most 5 minutes before its time, so no earlier record can be in the range.
    const firstMs = parseTimestamp(range.from)!.epochMs - eventFutureMinutesMax * 60_000
    const position = recordIdFloor(firstMs, 0)
    const untilId = recordIdFloor(nowMs() + staleBookMsMax, 0)
    return database.withTenant(tenant.slug, (tx) => insertRun(tx, { run_id: runId, position, until_id: untilId }))
  }

  async function appendEvent(
    tx: TenantTx,
    tenant: Tenant,
    order: RepricingRequest,
    run: RepricingRun,
  ): Promise<string> {
    const unreadable = run.unreadable > 0 ? { unreadable: run.unreadable } : {}
    const { recordId } = await governance.append(tx, tenant, {
      kind: 'telemetry.rerated',
      subject: `tenant:${tenant.slug}`,
      details: { ...order.cause, ...order.range, ...resultOf(run), ...unreadable },
      actor: order.actor,
    })
    return recordId
  }

  /** Does the next part, unless another process has done the last one. Returns the run after it, or undefined for a forged one. */
  async function goOn(tx: TenantTx, tenant: Tenant, order: RepricingRequest): Promise<RepricingRun | undefined> {
    await lockRepricing(tx)
    const before = await findRun(tx, order.runId)
    if (before === undefined || before.finished_at !== null) return before
    // Reads the book for each part, under the lock: a later run may have repriced at newer prices meanwhile.
    const book = await prices.bookWithin(tx)
    const nowText = formatTimestamp(nowMs())
    const { run, ended, change } = await repricePart(tx, before, { range: order.range, book, nowText, log: deps.log })
    const after = { ...run, finished_at: ended ? nowText : null }
    await saveRun(tx, after)
    const events = ended ? [await appendEvent(tx, tenant, order, after)] : []
    if (ended || after.changed > before.changed) await adjustSums(tx, change, events)
    if (after.changed > before.changed) tx.afterCommit(() => deps.rated(tenant.slug))
    return after
  }

  async function run(tenant: Tenant, order: RepricingRequest, signal?: AbortSignal): Promise<RepricingResult> {
    await begin(tenant, order)
    // Until then another process may still ingest at the former prices, at a position that this run will have passed.
    await delay(settleMs, undefined, signal ? { signal } : {})
    for (;;) {
      signal?.throwIfAborted()
      const after = await database.withTenant(tenant.slug, (tx) => goOn(tx, tenant, order), {
        inIndexOrder: true,
      })
      if (after === undefined) throw forgedRun()
      if (after.finished_at !== null) return resultOf(after)
    }
  }

  return {
    async request(caller, times) {
      const runId = randomUUIDv7()
      const { tenant, tokenId: _tokenId, scopes: _scopes, ...actor } = caller
      await deps.send(tenant, { runId, range: rangeOf(times, nowMs()), actor, cause: { job_id: runId } })
      return { job_id: runId, status: 'queued' }
    },

    rate: (tenant, times, by) => run(tenant, { runId: randomUUIDv7(), range: rangeOf(times, nowMs()), ...by }),

    run,
  }
}

function rangeOf(times: { from: string; to?: string }, nowMs: number): RepricingRange {
  const errors: PointedError[] = []
  const timeOf = (pointer: string, text: string) => {
    const time = parseTimestamp(text)
    if (!time) errors.push({ pointer, detail: 'must be an RFC 3339 timestamp' })
    return time?.text ?? ''
  }
  const range = {
    from: timeOf('/from', times.from),
    to: times.to === undefined ? formatTimestamp(nowMs) : timeOf('/to', times.to),
  }
  if (errors.length === 0 && range.from >= range.to) {
    const detail = times.to === undefined ? 'must be in the past, without `to`' : 'must be before `to`'
    errors.push({ pointer: '/from', detail })
  }
  if (errors.length > 0) throw validationFailed(errors)
  return range
}

function forgedRun(): DomainError {
  const detail = 'The stored progress of this run was changed in the database. Request the repricing again.'
  return new DomainError('concurrent-modification', detail)
}

function resultOf(run: RepricingRun): RepricingResult {
  return {
    checked: run.checked,
    changed: run.changed,
    cost_usd_computed_before: usdOfExactMicros(BigInt(run.cost_before_micros)),
    cost_usd_computed_after: usdOfExactMicros(BigInt(run.cost_after_micros)),
  }
}

export const repricingJobName = 'rate-telemetry-again'

/** The data that the queue stores for a run until it has ended. */
interface RatingJobData {
  tenant: string
  order: RepricingRequest
  /** The MAC of the request: its actor goes into a governance event, and the queue is in the database. */
  proof: string
}

const requestsInQueue: ProofRules<RepricingRequest> = {
  table: 'hub_jobs.job',
  fields: ({ runId, range, actor, cause }) => [
    canonicalize(JSON.parse(JSON.stringify({ runId, range, actor, cause }))),
  ],
  subject: (_order, tenantId) => `tenant:${tenantId}`,
}

export function repricingJobData(tx: TenantTx, order: RepricingRequest): RatingJobData {
  const proof = tx.proofs.of(requestsInQueue, tx.tenantId, order).toString('base64url')
  return { tenant: tx.tenantId, order, proof }
}

/** Returns whether the Hub queued the request. Reports it otherwise. */
function isSound(tx: TenantTx, { order, proof = '' }: Partial<RatingJobData>): boolean {
  const row = order && { ...order, proof: Buffer.from(proof, 'base64url') }
  return tx.proofs.sound(requestsInQueue, tx.tenantId, row) !== undefined
}

/**
 * Defines the job for runs that were requested over HTTP. A run that exceeds the time of a job continues in its next
 * try.
 */
export function repricingJob(deps: {
  database: Pick<Database, 'withTenant'>
  runs: Pick<RepricingRuns, 'run'>
  findTenant: (slug: string) => Promise<Tenant | undefined>
  log: Pick<DatabaseLog, 'warn'>
}): JobDefinition {
  return {
    name: repricingJobName,
    retryLimit: 12,
    pollingIntervalSeconds: 1,
    handler: async ({ data, signal }) => {
      const job = data as RatingJobData
      const { tenant: slug, order } = job
      const tenant = await deps.findTenant(slug)
      if (!tenant) {
        deps.log.warn({ tenant: slug, runId: order.runId }, 'a deleted tenant is not repriced')
        return
      }
      const sound = await readTenant(deps.database, slug, async (tx) => isSound(tx, job))
      if (sound) await deps.runs.run(tenant, order, signal)
    },
  }
}
