import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '../../../../contract/domain-error.ts'
import { type Database, type DatabaseLog, readTenant } from '../../../db/database.ts'
import { type Compacted, compactDay } from './day-compaction.ts'
import { type Folded, RollupAggregator } from './rollup-aggregator.ts'
import { type Rebuilt, rebuildRollups } from './rollup-rebuild.ts'
import { idleOpenDays } from './rollup-store.ts'

/**
 * Milliseconds to wait while rollups are busy: a transaction takes well under a second, a day some seconds, a rebuild
 * minutes.
 */
const busyMsMax = 120_000
/** Maximum of the random pause, so that a retry eventually falls between two transactions of a busy tenant. */
const busyPauseMsMax = 40

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

  /** Writes the rows of a day from its quarters, until `stopped` fires; see {@link compactDay}. */
  closeDay(tenantId: string, day: number, stopped?: AbortSignal): Promise<Compacted> {
    return compactDay(this.#database, tenantId, day, stopped)
  }

  /**
   * Aggregates every delta, and compacts every open day that no other process changes meanwhile. Throws `concurrent-modification` if another process blocks it
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
      for (const day of days) {
        if ((await notBusy(tenantId, () => this.closeDay(tenantId, day))) === 'closed') closed += 1
      }
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
