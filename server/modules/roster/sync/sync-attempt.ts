import type { Database, TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor } from '../../governance/governance-types.ts'
import type { ScimSource } from '../../identity/scim/scim-source-types.ts'
import type { GroupMapping } from '../directory/directory-types.ts'
import { SyncEndedError } from './sync-state.ts'
import type { SyncTimeSlice } from './sync-time-slice.ts'
import { lockAttempt, type SyncRow, saveSync } from './syncs-store.ts'

/** One process's work on a sync. Only the latest attempt may change the sync, and only while it runs. */
export interface SyncAttempt {
  tenant: Tenant
  syncId: string
  attempt: number
  /** The source of a pull; undefined for push. */
  source: ScimSource | undefined
  mapping: readonly GroupMapping[]
  actor: Actor
  turn: SyncTimeSlice
  signal: AbortSignal
}

/**
 * Advances the sync in one transaction: `work` changes the given row, and its changes of the roster commit with it.
 * Throws {@link SyncEndedError} if a later attempt or the end of the sync has superseded this one.
 */
export function takeStep(
  database: Database,
  { tenant, syncId, attempt }: SyncAttempt,
  work: (tx: TenantTx, row: SyncRow) => Promise<void>,
): Promise<SyncRow> {
  return database.withTenant(tenant.slug, async (tx) => {
    const row = await lockAttempt(tx, syncId, attempt)
    if (!row) throw new SyncEndedError('the sync is over, or in other hands')
    const before = row.position
    // Progress resets the counters: they count crashes and directory failures at the same place only.
    row.position = { ...before, tries: 0, asks: 0 }
    await work(tx, row)
    const { users, groups } = row.position
    row.skipped = row.position.usersSkipped + row.position.skipped
    row.done = users + groups + row.skipped
    if (row.total !== null) row.total = Math.max(row.total, row.done)
    await saveSync(tx, row)
    return row
  })
}
