import type { DatabaseLog, TenantTx } from '../../../db/database.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import { timeOfRecordId } from '../../../records/record-clock.ts'
import { addedUp, type Cell, Cells } from './rollup-cells.ts'
import { type DeltaEntry, readDelta, UnreadableDelta } from './rollup-delta.ts'
import { mergeIntoRows } from './rollup-rows-store.ts'
import { deleteDeltas, lockRollups, openDays, readDeltas, waitingDeltas } from './rollup-store.ts'
import { dayOfQuarterHour, views } from './rollup-types.ts'

/** Limits of one transaction: a hundred thousand entries, or cells up to a number that stays small in memory. */
const deltasMax = 5000
const bytesMax = 8_000_000
const cellsMax = 10_000
/** Bytes of deltas in memory together. */
const bytesPerRead = 1_000_000
/** Short, because an event in ingest waits for several turns, and aggregation takes hundreds. */
const turnMsMax = 1
/** Turns while the oldest delta is older than this are longer: otherwise a busy process leaves aggregation behind. */
const behindMs = 5_000
const turnMsBehind = 4
/** Maximum number of unreadable deltas that are skipped, of all tenants. */
const skippedMax = 10_000

export interface Folded {
  deltas: number
  /** Whether more deltas wait than one transaction takes. */
  more: boolean
}

/** Aggregates a tenant's deltas into its rollups, and remembers unreadable ones. */
export class RollupAggregator {
  readonly #log: Pick<DatabaseLog, 'error'>
  /**
   * Unreadable deltas stay, for a newer version of the service to aggregate or a rebuild to delete, but must not block
   * others.
   */
  readonly #skipped = new Set<string>()

  constructor(log: Pick<DatabaseLog, 'error'>) {
    this.#log = log
  }

  /**
   * Aggregates the oldest deltas in this transaction: adds their entries to the rows, opens their days, and deletes the
   * deltas. Returns `busy`, and does nothing, while another transaction changes the tenant's rollups.
   */
  async fold(tx: TenantTx): Promise<Folded | 'busy'> {
    // Most tenants usually have nothing to aggregate.
    if ((await waitingDeltas(tx, [...this.#skipped], 1)).length === 0) return { deltas: 0, more: false }
    if (!(await lockRollups(tx))) return 'busy'
    const waiting = await waitingDeltas(tx, [...this.#skipped], deltasMax)
    const all = new Cells()
    const turnMs = isBehind(waiting[0]?.deltaId) ? turnMsBehind : turnMsMax
    const yieldIfLong = createEventLoopYielder(turnMs)
    const folded: string[] = []
    let seen = 0
    for (const deltaIds of readsOf(waiting)) {
      for (const { deltaId, entries: text } of await readDeltas(tx, deltaIds)) {
        const entries = this.#read(tx, deltaId, text)
        if (!entries) continue
        folded.push(deltaId)
        for (const { quarter, dimensions, addTo } of entries) {
          addTo(all.metricsOf('all', quarter, dimensions))
          await yieldIfLong()
        }
      }
      seen += deltaIds.length
      if (all.size >= cellsMax) break
    }
    await storeCells(tx, all, turnMs)
    await deleteDeltas(tx, folded)
    return { deltas: folded.length, more: waiting.length === deltasMax || seen < waiting.length }
  }

  #read(tx: TenantTx, deltaId: string, text: string): DeltaEntry[] | undefined {
    try {
      return readDelta(text)
    } catch (error) {
      if (!(error instanceof UnreadableDelta)) throw error
      this.#skipped.add(deltaId)
      if (this.#skipped.size > skippedMax) this.#skipped.delete(this.#skipped.values().next().value!)
      this.#log.error(
        { err: error, tenant: tx.tenantId, deltaId },
        'a telemetry delta cannot be read, so the summary lacks its events: run hub rollups rebuild for the tenant',
      )
      return undefined
    }
  }
}

/**
 * Adds cells of the view `all` to the stored quarters of every view, and opens their days. Returns the number of rows.
 */
export async function storeCells(tx: TenantTx, all: Cells, turnMs = turnMsMax): Promise<number> {
  if (all.size === 0) return 0
  const days = new Set<number>()
  for (const { firstQuarter } of all.values()) days.add(dayOfQuarterHour(firstQuarter))
  const rows = await mergeIntoRows(tx, 'quarter', cellsByView(all, createEventLoopYielder(turnMs)))
  await openDays(tx, [...days])
  return rows
}

/**
 * Yields the cells of each view, so that only few views are in memory together. Small views are added up from
 * `no_user`, which has far fewer cells than `all`. A caller changes cells, so views come after those made of them.
 */
async function* cellsByView(all: Cells, yieldIfLong: () => Promise<void>): AsyncGenerator<Iterable<Cell>> {
  yield (await addedUp(all, 'user', yieldIfLong)).values()
  const noUser = await addedUp(all, 'no_user', yieldIfLong)
  for (const view of views) {
    if (view === 'all' || view === 'no_user' || view === 'user') continue
    yield (await addedUp(noUser, view, yieldIfLong)).values()
  }
  yield noUser.values()
  yield all.values()
}

function isBehind(oldestId: string | undefined): boolean {
  return oldestId !== undefined && Date.now() - Date.parse(timeOfRecordId(oldestId)) > behindMs
}

/** Returns the ids of the first deltas, in parts that are read one after the other. */
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
