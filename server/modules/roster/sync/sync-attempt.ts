import type { Database, TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor } from '../../governance/governance-types.ts'
import type { ScimSource } from '../../identity/scim/scim-source-types.ts'
import type { GroupMapping } from '../directory/directory-types.ts'
import { SyncEndedError } from './sync-state.ts'
import type { SyncTimeSlice } from './sync-time-slice.ts'
import { lockAttempt, type SyncRow, saveSync } from './syncs-store.ts'

/** One process at work on a sync. Only the last attempt that began changes it, and only while it runs. */
export interface SyncAttempt {
  tenant: Tenant
  syncId: string
  attempt: number
  /** Of pull. */
  source: ScimSource | undefined
  mapping: readonly GroupMapping[]
  actor: Actor
  turn: SyncTimeSlice
  signal: AbortSignal
}

/**
 * Takes the sync a step further: `work` changes the row that it is given, and what it does to the roster commits with
 * it. Throws {@link SyncEndedError} when the attempt no longer counts.
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
    // A process dies, or a directory fails, at the same place time and again only if there is no progress in between.
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
