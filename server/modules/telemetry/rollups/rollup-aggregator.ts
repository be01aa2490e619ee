import type { DatabaseLog, TenantTx } from '../../../db/database.ts'
import { createYieldBudget } from '../../../http/yield-budget.ts'
import { addUp, Cells } from './rollup-cells.ts'
import { type DeltaEntry, readDelta, UnreadableDelta } from './rollup-delta.ts'
import { mergeIntoRows } from './rollup-rows-store.ts'
import { deleteDeltas, lockRollups, openDays, readDeltas, waitingDeltas } from './rollup-store.ts'
import { dayOfQuarter, views } from './rollup-types.ts'

/** What one transaction folds at most: a hundred thousand entries, or so many cells that they stay small in memory. */
const deltasMax = 5000
const bytesMax = 8_000_000
const cellsMax = 10_000
/** Deltas in memory together. */
const bytesPerRead = 1_000_000
/** Short, because an event that is being ingested waits for several turns, and folding takes hundreds. */
const turnMsMax = 1
/** Unreadable deltas that are stepped over, of all tenants. */
const skippedMax = 10_000

export interface Folded {
  deltas: number
  /** More deltas were waiting than one transaction takes. */
  more: boolean
}

/** Folds a tenant's deltas into its rollups. Remembers those that it could not read. */
export interface RollupAggregator {
  /**
   * Folds the oldest deltas: their entries are added to the rows, their days are open, and they are deleted, in this
   * one transaction. Answers `busy`, and does nothing, while another transaction changes the tenant's rollups.
   */
  fold(tx: TenantTx): Promise<Folded | 'busy'>
}

export function createRollupAggregator(log: Pick<DatabaseLog, 'error'>): RollupAggregator {
  /**
   * They stay where they are, for a newer version of the service to fold or a rebuild to delete, but must not stand
   * in the way of others.
   */
  const skipped = new Set<string>()

  function skip(tx: TenantTx, deltaId: string, error: UnreadableDelta): void {
    skipped.add(deltaId)
    if (skipped.size > skippedMax) skipped.delete(skipped.values().next().value!)
    log.error(
      { err: error, tenant: tx.tenantId, deltaId },
      'a telemetry delta cannot be read, so the summary lacks its events: run hub rollups rebuild for the tenant',
    )
  }

  function read(tx: TenantTx, deltaId: string, text: string): DeltaEntry[] | undefined {
    try {
      return readDelta(text)
    } catch (error) {
      if (!(error instanceof UnreadableDelta)) throw error
      skip(tx, deltaId, error)
      return undefined
    }
  }

  return {
    async fold(tx) {
      // Most tenants have nothing to fold at most times.
      if ((await waitingDeltas(tx, [...skipped], 1)).length === 0) return { deltas: 0, more: false }
      if (!(await lockRollups(tx))) return 'busy'
      const waiting = await waitingDeltas(tx, [...skipped], deltasMax)
      const all = new Cells()
      const counter = createCounter(all)
      const folded: string[] = []
      let seen = 0
      for (const deltaIds of readsOf(waiting)) {
        for (const { deltaId, entries: text } of await readDeltas(tx, deltaIds)) {
          const entries = read(tx, deltaId, text)
          if (!entries) continue
          folded.push(deltaId)
          await counter.count(entries)
        }
        seen += deltaIds.length
        if (all.size >= cellsMax) break
      }
      await storeCells(tx, all)
      await deleteDeltas(tx, folded)
      return { deltas: folded.length, more: waiting.length === deltasMax || seen < waiting.length }
    },
  }
}

/** Adds cells of the view `all` to the stored quarters of every view, and opens their days. Answers how many rows. */
export async function storeCells(tx: TenantTx, all: Cells): Promise<number> {
  if (all.size === 0) return 0
  const days = new Set<number>()
  for (const { firstQuarter } of all.values()) days.add(dayOfQuarter(firstQuarter))
  const turn = createYieldBudget(turnMsMax)
  let rows = 0
  // One view after the other, so that their cells are not in memory together.
  for (const view of views) {
    if (view === 'all') continue
    const cells = new Cells()
    await addUp(cells, all, view, turn)
    rows += await mergeIntoRows(tx, 'quarter', cells.values())
  }
  // Last, because it adds the stored figures to these cells.
  rows += await mergeIntoRows(tx, 'quarter', all.values())
  await openDays(tx, [...days])
  return rows
}

/** Counts entries without keeping the process from its requests. */
function createCounter(all: Cells) {
  const turn = createYieldBudget(turnMsMax)
  return {
    async count(entries: readonly DeltaEntry[]): Promise<void> {
      for (const { quarter, dimensions, addTo } of entries) {
        addTo(all.figuresOf('all', quarter, dimensions))
        await turn.endIfLong()
      }
    },
  }
}

/** The ids of a first part of the deltas, in parts that are read one after the other. */
function readsOf(waiting: readonly { deltaId: string; bytes: number }[]): string[][] {
  const reads: string[][] = []
  let total = 0
  let inRead = bytesPerRead
  for (const { deltaId, bytes } of waiting) {
    total += bytes
    if (reads.length > 0 && total > bytesMax) break
    inRead += bytes
    if (inRead > bytesPerRead) {
      reads.push([])
      inRead = bytes
    }
    reads.at(-1)!.push(deltaId)
  }
  return reads
}
