import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '../../../../contract/domain-error.ts'
import { type Database, type DatabaseLog, readTenant, type TenantTx } from '../../../db/database.ts'
import { type Folded, RollupAggregator } from './rollup-aggregator.ts'
import { Cells } from './rollup-cells.ts'
import { type Rebuilt, rebuildRollups } from './rollup-rebuild.ts'
import { addQuarters, type CellShare, countQuarters, deleteDayRows, insertRows } from './rollup-rows-store.ts'
import { idleOpenDays, lockRollups, unmarkDay } from './rollup-store.ts'
import { quartersPerDay, views } from './rollup-types.ts'

/**
 * Milliseconds to wait while rollups are busy: a transaction takes well under a second, a day some seconds, a rebuild
 * minutes.
 */
const busyMsMax = 120_000
/** Maximum of the random pause, so that a retry eventually falls between two transactions of a busy tenant. */
const busyPauseMsMax = 40
/** Rows of quarters that are added up in memory together; bounds the cells of a day. */
const rowsTogetherMax = 50_000
const digestBytes = 256

/** Changes the rollups of one tenant, each time in transactions of its own. */
export class Rollups {
  readonly #database: Database
  readonly #log: Pick<DatabaseLog, 'error'>
  readonly #aggregator: RollupAggregator

  constructor({ database, log }: { database: Database; log: Pick<DatabaseLog, 'error'> }) {
    this.#database = database
    this.#log = log
    this.#aggregator = new RollupAggregator(log)
  }

  /**
   * Aggregates the oldest deltas in one transaction; returns `busy` while another process changes the tenant's rollups.
   */
  fold(tenantId: string): Promise<Folded | 'busy'> {
    return this.#database.withTenant(tenantId, (tx) => this.#aggregator.fold(tx))
  }

  /** Returns days with outdated rows that had no addition for this many seconds. */
  daysToClose(tenantId: string, idleSeconds: number): Promise<number[]> {
    return readTenant(this.#database, tenantId, (tx) => idleOpenDays(tx, idleSeconds))
  }

  /** Writes the rows of a day from its quarters; returns `busy` like {@link fold}. */
  closeDay(tenantId: string, day: number): Promise<'closed' | 'busy'> {
    return this.#database.withTenant(tenantId, (tx) => compactDay(tx, day))
  }

  /**
   * Aggregates every delta, and compacts every open day. Throws `concurrent-modification` if another process blocks it
   * for two minutes.
   */
  async settle(tenantId: string): Promise<{ deltas: number; days: number }> {
    let deltas = 0
    for (let more = true; more; ) {
      const folded = await notBusy(tenantId, () => this.fold(tenantId))
      deltas += folded.deltas
      more = folded.more
    }
    return { deltas, days: await this.#closeAll(tenantId) }
  }

  /**
   * Rebuilds everything from the records, while ingest may continue, then compacts the days. Throws like {@link
   * settle}, and `AggregateLossError` if the key of events was destroyed.
   *
   * @param options.mayLose continues without the events that are no longer readable
   */
  async rebuild(tenantId: string, options?: { mayLose?: boolean }): Promise<Rebuilt & { days: number }> {
    // Retries when busy rather than waiting inside: the snapshot must not be older than the lock.
    const rebuilt = await notBusy(tenantId, () =>
      this.#database.withTenant(tenantId, (tx) => rebuildRollups(tx, this.#log, options), { snapshot: true }),
    )
    return { ...rebuilt, days: await this.#closeAll(tenantId) }
  }

  async #closeAll(tenantId: string): Promise<number> {
    let closed = 0
    for (;;) {
      const days = await this.daysToClose(tenantId, 0)
      for (const day of days) await notBusy(tenantId, () => this.closeDay(tenantId, day))
      closed += days.length
      // The query returns at most a thousand days. Fewer are all, though ingest may open further ones meanwhile.
      if (days.length < 1000) return closed
    }
  }
}

async function notBusy<Result>(
  tenantId: string,
  work: () => Promise<Result | 'busy'>,
): Promise<Exclude<Result, 'busy'>> {
  const giveUpAtMs = performance.now() + busyMsMax
  for (;;) {
    const result = await work()
    if (result !== 'busy') return result as Exclude<Result, 'busy'>
    if (performance.now() > giveUpAtMs) {
      throw new DomainError(
        'concurrent-modification',
        `Another process has been changing the rollups of tenant ${tenantId} for two minutes. Try again when it has finished.`,
      )
    }
    await delay(Math.random() * busyPauseMsMax)
  }
}

/**
 * Writes the rows of a day from its quarters, and removes its mark. Returns `busy`, and does nothing, while another
 * transaction changes the tenant's rollups, and `closed` for a day without a mark.
 */
async function compactDay(tx: TenantTx, day: number): Promise<'closed' | 'busy'> {
  if (!(await lockRollups(tx))) return 'busy'
  if (!(await unmarkDay(tx, day))) return 'closed'
  for (const view of views) {
    await deleteDayRows(tx, view, day)
    for (const share of sharesOf(await countQuarters(tx, view, day))) {
      const cells = new Cells()
      await addQuarters(tx, { view, day, share }, (dimensions) =>
        cells.metricsOf(view, day * quartersPerDay, dimensions),
      )
      await insertRows(tx, 'day', cells.values())
    }
  }
  return 'closed'
}

/**
 * Returns shares of cells. Digests are spread evenly, so ranges of their first byte have about the same number of rows.
 */
function sharesOf(rows: number): CellShare[] {
  const count = Math.min(digestBytes, Math.ceil(rows / rowsTogetherMax))
  const startOf = (at: number) => Math.round((at * digestBytes) / count)
  return Array.from({ length: count }, (_, at) => ({ first: startOf(at), last: startOf(at + 1) - 1 }))
}
