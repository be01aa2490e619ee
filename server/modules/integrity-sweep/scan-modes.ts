import { parseTimestamp } from '../../../contract/timestamp.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { microsOf, timeOfMicros } from '../../records/monotonic-timestamp.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import { isCorruptionError } from '../../records/record-errors.ts'
import { firstId } from './record-scan.ts'
import type { Stepped, SweepDeps, SweepSteps } from './sweep-steps.ts'
import type { Finding } from './sweep-types.ts'
import { claimSweep, findSweep, type Lane, releaseSweep, type StoredSweep, type SweepRow } from './sweeps-store.ts'
import type { Throttle } from './throttle.ts'

/** The limits of one time slice for a tenant. */
export interface ScanStep {
  pace: Throttle
  signal: AbortSignal
  /** Approximate number of records after which the next tenant follows. */
  turnRecords: number
}

/** `more`: continues in the next time slice; `busy`: another process holds the claim. */
export type Turned = 'done' | 'more' | 'busy'

/** Duration of a claim in microseconds, after which a crashed process loses it. A time slice takes some seconds. */
const claimMicros = 60_000_000
/** Maximum difference between the clocks of processes, in microseconds. */
const claimSlackMicros = 60_000_000
/**
 * Maximum backlog of the recent scan in records: half a minute of its rate. It leaves faster growth to the full scan,
 * so that it always checks the newest records.
 */
const behindRecordsMax = 75_000

/** The steps of which the scan modes consist. */
export type ScannedSteps = Pick<SweepSteps, 'entriesWorth' | 'head' | 'page' | 'scan'>

type ScanDeps = Pick<SweepDeps, 'database' | 'logs' | 'tampering'> & { clock: RecordClock }

/** The scan modes of hub.sweeps. Any process continues where another stopped. */
export class ScanModes {
  readonly #deps: ScanDeps
  readonly #steps: ScannedSteps

  constructor(deps: ScanDeps, steps: ScannedSteps) {
    this.#deps = deps
    this.#steps = steps
  }

  /** Follows the end of the log. */
  async recent(tenant: Tenant, { pace, signal, turnRecords }: ScanStep): Promise<Turned> {
    const end = await this.#endOf(tenant)
    if (end === undefined || end.seen === end.treeSize) return 'done'
    const { treeSize } = end
    return this.#within(tenant, 'recent', async (row) => {
      // A log that was rolled back ends at its present size.
      if (row.log_index > treeSize) row.log_index = treeSize
      else row.log_index = Math.max(row.log_index, treeSize - this.#steps.entriesWorth(behindRecordsMax))
      for (let spent = 0; spent < turnRecords && !signal.aborted && !this.#isOver(row); ) {
        const step = await this.#steps.page(tenant, row.log_index)
        if (step.next === undefined) {
          row.finished_at = this.#deps.clock.next().createdAt
          return 'done'
        }
        row.log_index = step.next
        count(row, step)
        spent += step.cost
        await pace.spend(step.cost, signal)
      }
      return 'more'
    })
  }

  /** Scans all data of a tenant, and starts again at the end. */
  pass(tenant: Tenant, { pace, signal, turnRecords }: ScanStep): Promise<Turned> {
    return this.#within(tenant, 'all', async (row) => {
      if (row.log_index === 0 && row.after_id === null) {
        Object.assign(row, { started_at: this.#deps.clock.next().createdAt, checked: 0, failed: 0 })
        count(row, await this.#steps.head(tenant))
      }
      let spent = 0
      // Each time slice makes progress, even if it must end at once.
      do {
        const cost = row.after_id === null ? await this.#passPage(tenant, row) : await this.#passScan(tenant, row)
        if (cost === undefined) return 'done'
        spent += cost
        await pace.spend(cost, signal)
      } while (spent < turnRecords && !signal.aborted && !this.#isOver(row))
      return 'more'
    })
  }

  /**
   * Returns the size of the log and the progress of the recent scan; undefined if the head cannot be read, which full
   * scans report.
   */
  async #endOf(tenant: Tenant): Promise<{ treeSize: number; seen: number } | undefined> {
    const read = async (tx: TenantTx) => {
      const head = await this.#deps.logs.head(tx)
      return { treeSize: head?.treeSize ?? 0, seen: Number((await findSweep(tx, 'recent'))?.log_index ?? 0) }
    }
    try {
      return await readTenant(this.#deps.database, tenant.slug, read)
    } catch (error) {
      if (!isCorruptionError(error)) throw error
      return undefined
    }
  }

  /** Runs the work within a claim. Always releases the claim, with the progress so far. */
  async #within(tenant: Tenant, lane: Lane, work: (row: SweepRow) => Promise<Turned>): Promise<Turned> {
    const claimed = await this.#claim(tenant, lane)
    if (claimed === undefined) return 'busy'
    const { row, findings } = claimed
    if (findings.length > 0) {
      this.#deps.tampering.report(
        tenant,
        findings.map((finding) => ({ ...finding, service: 'sweeper' })),
      )
    }
    try {
      return await work(row)
    } finally {
      await this.#save(tenant, row)
    }
  }

  #claim(tenant: Tenant, lane: Lane): Promise<SweepRead | undefined> {
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      const { micros, createdAt: now } = this.#deps.clock.next()
      const until = timeOfMicros(micros + claimMicros)
      const times = { now, until, claimedMax: timeOfMicros(micros + claimMicros + claimSlackMicros) }
      const stored = await claimSweep(tx, lane, times)
      return stored && readSweep(stored, times)
    })
  }

  async #save(tenant: Tenant, { lane, claimed_until, ...progress }: SweepRow): Promise<void> {
    await this.#deps.database.withTenant(tenant.slug, (tx) =>
      releaseSweep(tx, lane as Lane, claimed_until!, { ...progress, updated_at: this.#deps.clock.next().createdAt }),
    )
  }

  #isOver(row: SweepRow): boolean {
    return microsOf(row.claimed_until!) - this.#deps.clock.next().micros < claimMicros / 2
  }

  async #passPage(tenant: Tenant, row: SweepRow): Promise<number> {
    const step = await this.#steps.page(tenant, row.log_index)
    count(row, step)
    if (step.next === undefined) row.after_id = firstId
    else row.log_index = step.next
    return step.cost
  }

  /** Scans a page of records. Returns undefined at the end of the pass. */
  async #passScan(tenant: Tenant, row: SweepRow): Promise<number | undefined> {
    const step = await this.#steps.scan(tenant, row.after_id!)
    count(row, step)
    if (step.next !== undefined) {
      row.after_id = step.next
      return step.cost
    }
    Object.assign(row, { log_index: 0, after_id: null, finished_at: this.#deps.clock.next().createdAt })
    return undefined
  }
}

function count(row: SweepRow, { checked, failed, inconsistent }: Stepped): void {
  row.checked += checked
  row.failed += failed + inconsistent
}

/** The stored progress of a scan mode, with findings if it is invalid. */
interface SweepRead {
  /** The progress; reset if the stored one is not credible. */
  row: SweepRow
  findings: Finding[]
}

/**
 * Reads claimed progress. Values that no process can have written reset it and count as tampering, so that nobody can
 * mislead the sweeper.
 *
 * @param times `now`, the end of this claim, and the latest possible end of another process's claim
 */
function readSweep(stored: StoredSweep, times: { now: string; until: string; claimedMax: string }): SweepRead {
  const { now, until, claimedMax } = times
  const lane = stored.lane as Lane
  const checks: Finding['failedChecks'] = []
  // Two times in the one text form compare as text; any other form is invalid.
  const { claimed_until } = stored
  if (claimed_until !== null && (!isTime(claimed_until) || claimed_until > claimedMax)) checks.push('sweep_claim_ends')
  const row = rowOf(stored, until)
  if (row === undefined) checks.push('sweep_readable')
  const found = { lane, claimed_until }
  return {
    row: row ?? {
      ...{ lane, log_index: 0, after_id: null, claimed_until: until, started_at: now, updated_at: now },
      ...{ finished_at: null, checked: 0, failed: 0 },
    },
    findings: checks.length === 0 ? [] : [{ subject: `sweep:${lane}`, failedChecks: checks, found }],
  }
}

function rowOf(stored: StoredSweep, claimed_until: string): SweepRow | undefined {
  const { lane, after_id, started_at, updated_at, finished_at } = stored
  const [log_index, checked, failed] = [stored.log_index, stored.checked, stored.failed].map(Number)
  const isReadable =
    [log_index, checked, failed].every((count) => Number.isSafeInteger(count) && count! >= 0) &&
    [started_at, updated_at].every(isTime) &&
    (finished_at === null || isTime(finished_at))
  if (!isReadable) return undefined
  return {
    ...{ lane, log_index: log_index!, after_id, claimed_until, started_at, updated_at, finished_at },
    ...{ checked: checked!, failed: failed! },
  }
}

function isTime(text: string): boolean {
  return parseTimestamp(text)?.text === text
}
