import type { DatabaseLog, TenantTx } from '../../../db/database.ts'
import { isErased } from '../../../db/record-encryption.ts'
import { errorCodeOf, readStoredEvent } from '../stored-event.ts'
import { latencyBinOf } from './latency-sketch.ts'
import { storeCells } from './rollup-aggregator.ts'
import { Cells } from './rollup-cells.ts'
import { quarterOf } from './rollup-delta.ts'
import { addErasedCells, beforeFirst, type ErasedPlace } from './rollup-erased-store.ts'
import { deleteOpenDays, deleteRows, eventsAfter, type StoredEvent } from './rollup-rebuild-store.ts'
import { deleteAllDeltas, lockRollups } from './rollup-store.ts'
import { views } from './rollup-types.ts'

const eventsPerPage = 1000
/** Maximum number of cells of the view `all` in memory. */
const cellsMax = 10_000
const beforeAll = '00000000-0000-0000-0000-000000000000'

export interface Rebuilt {
  /** Events that were read and counted. */
  events: number
  /** Events that could not be read, and are missing from the rollups. */
  unreadable: number
  /** Unreadable events whose content was destroyed with its key. */
  erased: number
  /** Rows written; a row counts again when later events belong to its cell. */
  rows: number
  /** Deltas that were not aggregated yet, and are part of the new rows. */
  deltas: number
}

/** Signals that a rebuild would lose sums: events whose content was destroyed with its key can no longer be counted. */
export class AggregateLossError extends Error {}
const lost = 'the content of events was lost when its key was destroyed'

/**
 * Rebuilds the rollups of a tenant from its records, their latest ratings, and the stored sums of erased ones. Call it
 * in a snapshot: a transaction's records and its delta become visible together. So visible deltas are counted with the
 * records and deleted, and those of later transactions stay. Returns `busy`, and does nothing, while another
 * transaction changes them. Throws {@link AggregateLossError} if content of the tenant was destroyed with its key,
 * unless `mayLose` is set.
 */
export async function rebuildRollups(
  tx: TenantTx,
  log: Pick<DatabaseLog, 'error'>,
  { mayLose = false }: { mayLose?: boolean } = {},
): Promise<Rebuilt | 'busy'> {
  if (!(await lockRollups(tx))) return 'busy'
  const rebuilt: Rebuilt = { events: 0, unreadable: 0, erased: 0, rows: 0, deltas: await deleteAllDeltas(tx) }
  for (const view of views) {
    await deleteRows(tx, 'quarter', view)
    await deleteRows(tx, 'day', view)
  }
  await deleteOpenDays(tx)

  const all = new Cells()
  for (let after: string | undefined = beforeAll; after !== undefined; ) {
    const page: StoredEvent[] = await eventsAfter(tx, after, eventsPerPage)
    for (const event of page) {
      if (countEvent(all, event)) rebuilt.events += 1
      else {
        rebuilt.unreadable += 1
        if (isErased(tx, event.canonical)) {
          if (!mayLose) throw new AggregateLossError(lost)
          rebuilt.erased += 1
          continue
        }
        log.error(
          { tenant: tx.tenantId, recordId: event.recordId },
          'a record is not a readable telemetry event, so the summary lacks it: verify it',
        )
      }
    }
    after = page.length === eventsPerPage ? page.at(-1)?.recordId : undefined
    if (all.size >= cellsMax || after === undefined) {
      rebuilt.rows += await storeCells(tx, all)
      all.clear()
    }
  }
  // Events that a retention policy has erased since were not counted then either (see `eraseFromRollups`).
  if (!mayLose && tx.contents.erasedBeginnings(tx.tenantId).length > 0) throw new AggregateLossError(lost)
  rebuilt.rows += await addErased(tx)
  return rebuilt
}

/** Adds the stored additions of erased events. Returns the number of rows. */
async function addErased(tx: TenantTx): Promise<number> {
  let rows = 0
  for (let after: ErasedPlace | undefined = beforeFirst; after !== undefined; ) {
    const all = new Cells()
    after = await addErasedCells(tx, all, after)
    rows += await storeCells(tx, all)
  }
  return rows
}

/**
 * Counts an event; returns false, and counts nothing, for text that is no event, because somebody changed it in the
 * database.
 */
export function countEvent(all: Cells, stored: StoredEvent): boolean {
  const event = readStoredEvent(stored)
  if (!event) return false
  const { skill_id, archetype_id, user_id, llm_platform, llm_model = null } = event
  const error_code = errorCodeOf(event) ?? null
  const dimensions = { skill_id, archetype_id, user_id, llm_platform, llm_model, error_code }
  const metrics = all.metricsOf('all', quarterOf(event.epochMs), dimensions)
  metrics.invocations += 1
  metrics.failures += event.success ? 0 : 1
  metrics.tokensIn.add(event.tokens_in)
  metrics.tokensOut.add(event.tokens_out)
  metrics.costEstimate.add(event.estimateMicros)
  metrics.costComputed.add(event.computedMicros ?? 0)
  metrics.unpriced += event.computedMicros === undefined ? 1 : 0
  metrics.latency.add(latencyBinOf(event.latency_ms))
  return true
}
