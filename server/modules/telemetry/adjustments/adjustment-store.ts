import {
  type AdjustmentSums,
  added,
  adjustmentRows,
  erasedSql,
  newestAdjustmentEvent,
  saveSums,
  sumOfText,
} from '../../../db/adjustment-sums.ts'
import type { TenantTx } from '../../../db/database.ts'
import { findRow } from '../../../db/tenant-rows.ts'
import type { Cell } from '../rollups/rollup-cells.ts'
import { cellDigest } from '../rollups/rollup-rows-store.ts'

/** The proven sums of a tenant; undefined if their row was edited, deleted or set back. */
export type ProvenSums = (AdjustmentSums & { eventId: string | null }) | undefined

/**
 * Reads the proven sums of the tenant. A row that was set back with the proof of that time lacks the newest event.
 *
 * @param except events of this transaction, which the sums do not include yet
 */
export async function provenSums(tx: TenantTx, except: readonly string[] = []): Promise<ProvenSums> {
  const row = await findRow(tx, 'hub.adjustment_proofs', ['ratings', 'erased', 'event_id', 'proof'])
  const newest = await newestAdjustmentEvent(tx.client, tx.tenantId, except)
  if (row === undefined) return newest === null ? { ratings: 0n, erased: 0n, eventId: null } : undefined
  if (!tx.proofs.holds(adjustmentRows, tx.tenantId, row)) return undefined
  if (newest !== null && (row.event_id === null || row.event_id < newest)) return undefined
  return { ratings: sumOfText(row.ratings), erased: sumOfText(row.erased), eventId: row.event_id }
}

/**
 * Adds a change to the proven sums, under `lockRepricing`. Sums whose proof does not hold stay unchanged: proving them
 * would hide the manipulation, and the sweeper reports them.
 *
 * @param eventIds the governance events of this transaction that record the change
 */
export async function adjustSums(tx: TenantTx, change: AdjustmentSums, eventIds: readonly string[]): Promise<void> {
  const before = await provenSums(tx, eventIds)
  if (before === undefined) return
  const eventId = [before.eventId, ...eventIds].reduce(
    (newest, id) => ((id ?? '') > (newest ?? '') ? id : newest),
    null,
  )
  const after = { ratings: added(before.ratings, change.ratings), erased: added(before.erased, change.erased) }
  await saveSums(tx.client, tx.proofs, tx.tenantId, after, eventId)
}

/** Reads the texts of the rows of the grain `erased` that exist for cells of the view `all`. */
export async function erasedTextsAt(tx: TenantTx, cells: readonly Cell[]): Promise<string[]> {
  const { rows } = await tx.client.query<{ text: string }>(
    `select stored.text from unnest($2::bigint[], $3::bytea[]) as wanted (quarter, digest),
       lateral (select ${erasedSql} as text from hub.telemetry_rollups where tenant_id = $1 and grain = 'erased'
         and view = 'all' and first_quarter = wanted.quarter and cell = wanted.digest offset 0) as stored`,
    [tx.tenantId, cells.map((cell) => cell.firstQuarter), cells.map((cell) => cellDigest(cell.dimensions))],
  )
  return rows.map((row) => row.text)
}

/** Reads the texts of the rows of the grain `erased` that have the user. */
export async function erasedTextsOf(tx: TenantTx, userId: string): Promise<string[]> {
  const { rows } = await tx.client.query<{ text: string }>(
    `select ${erasedSql} as text from hub.telemetry_rollups
     where tenant_id = $1 and user_id = $2 and grain = 'erased' and view = 'all'`,
    [tx.tenantId, userId],
  )
  return rows.map((row) => row.text)
}
