import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '../../../../contract/domain-error.ts'
import type { Database, DatabaseLog } from '../../../db/database.ts'
import { compactDay } from './day-compaction.ts'
import { createRollupAggregator, type Folded } from './rollup-aggregator.ts'
import { type Rebuilt, rebuildRollups } from './rollup-rebuild.ts'
import { idleOpenDays } from './rollup-store.ts'

/** A fold takes well under a second, a day some seconds, a rebuild minutes. */
const busyMsMax = 120_000
/** Random up to this, so that it falls between two folds of a busy tenant sooner or later. */
const busyPauseMsMax = 40

/** What is done with the rollups of one tenant, each in transactions of its own. */
export interface Rollups {
  /** Folds the oldest deltas in one transaction; `busy` while another process changes the tenant's rollups. */
  fold(tenantId: string): Promise<Folded | 'busy'>
  /** Days that nothing was added to for so long and whose rows are behind. */
  daysToClose(tenantId: string, idleSeconds: number): Promise<number[]>
  /** Writes the rows of a day from its quarters; `busy` as with {@link fold}. */
  closeDay(tenantId: string, day: number): Promise<'closed' | 'busy'>
  /**
   * Folds every delta that is there, and closes every open day. Throws `concurrent-modification` when another process
   * keeps it waiting for two minutes.
   */
  settle(tenantId: string): Promise<{ deltas: number; days: number }>
  /**
   * Reckons everything anew from the records, while ingest may go on, then closes the days. Throws as {@link settle},
   * and `SumsWouldBeLost` where the key of events was destroyed.
   *
   * @param options.mayLose goes on without the events that cannot be read any more
   */
  rebuild(tenantId: string, options?: { mayLose?: boolean }): Promise<Rebuilt & { days: number }>
}

export function createRollups(deps: { database: Database; log: Pick<DatabaseLog, 'error'> }): Rollups {
  const { database, log } = deps
  const folding = createRollupAggregator(log)

  const fold = (tenantId: string) => database.withTenant(tenantId, (tx) => folding.fold(tx))
  const close = (tenantId: string, day: number) => database.withTenant(tenantId, (tx) => compactDay(tx, day))
  const daysToClose = (tenantId: string, idleSeconds: number) =>
    database.withTenant(tenantId, (tx) => idleOpenDays(tx, idleSeconds), { readOnly: true })

  async function closeAll(tenantId: string): Promise<number> {
    let closed = 0
    for (;;) {
      const days = await daysToClose(tenantId, 0)
      for (const day of days) await notBusy(tenantId, () => close(tenantId, day))
      closed += days.length
      // The look-up is of the thousand longest at most. Fewer is all, though ingest may open further ones meanwhile.
      if (days.length < 1000) return closed
    }
  }

  return {
    fold,
    closeDay: close,
    daysToClose,

    async settle(tenantId) {
      let deltas = 0
      for (let more = true; more; ) {
        const folded = await notBusy(tenantId, () => fold(tenantId))
        deltas += folded.deltas
        more = folded.more
      }
      return { deltas, days: await closeAll(tenantId) }
    },

    async rebuild(tenantId, options) {
      // Refused when busy rather than waiting inside: the snapshot must not be older than the lock.
      const rebuilt = await notBusy(tenantId, () =>
        database.withTenant(tenantId, (tx) => rebuildRollups(tx, log, options), { snapshot: true }),
      )
      return { ...rebuilt, days: await closeAll(tenantId) }
    },
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
        `Another process has been changing the rollups of tenant ${tenantId} for two minutes. Try again when it is done.`,
      )
    }
    await delay(Math.random() * busyPauseMsMax)
  }
}
