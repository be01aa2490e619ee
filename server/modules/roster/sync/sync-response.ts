import type { Static } from 'typebox'
import type { SyncSchema } from './syncs-schemas.ts'
import type { SyncRow } from './syncs-store.ts'

export type SyncResponse = Static<typeof SyncSchema>

export function toSyncResponse(row: SyncRow): SyncResponse {
  const { keptActive, skippedEntries } = row.position
  return {
    sync_id: row.sync_id,
    mode: row.mode,
    status: row.status,
    created_at: row.created_at,
    created_by: row.created_by,
    ...(row.started_at !== null && { started_at: row.started_at }),
    ...(row.finished_at !== null && { finished_at: row.finished_at }),
    progress: { done: row.done, ...(row.total !== null && { total: row.total }) },
    added: row.added,
    updated: row.updated,
    deactivated: row.deactivated,
    unmatched: row.unmatched,
    skipped: row.skipped,
    ...(skippedEntries.length > 0 && { skipped_entries: [...skippedEntries] }),
    ...(keptActive.length > 0 && { kept_active: [...keptActive] }),
    ...(row.to_deactivate !== null && { to_deactivate: row.to_deactivate }),
    ...(row.confirmation_reason !== null && { confirmation_reason: row.confirmation_reason }),
    ...(row.confirmed_at !== null && { confirmed_at: row.confirmed_at }),
    ...(row.confirmed_by !== null && { confirmed_by: row.confirmed_by }),
    ...(row.error && { error: row.error }),
  }
}
