import { massDeactivation, rosterPullPageSize } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { Actor } from '../../governance/governance-types.ts'
import type { Directory } from '../directory/directory-types.ts'
import { type SyncAttempt, takeStep } from './sync-attempt.ts'
import { deleteEntries } from './sync-entries-store.ts'
import { nameKept, type SyncPosition } from './sync-state.ts'
import type { SyncRow } from './syncs-store.ts'

export type SyncCompletion = ReturnType<typeof createSyncCompletion>

/** Completes a sync once every page is applied. */
export function createSyncCompletion(deps: Pick<ModuleParts, 'database' | 'governance'> & { directory: Directory }) {
  const { database, directory, governance } = deps

  /** Returns the reason for a confirmation; undefined if deactivating is safe or confirmed. */
  async function askFirst(tx: TenantTx, row: SyncRow): Promise<{ people: number; reason: string } | undefined> {
    if (row.confirmed_at !== null) return undefined
    const { unseen, active } = await directory.countUnseen(tx, row.sync_id)
    const { groups } = await directory.counts(tx)
    const reason = reasonToAsk(row.position, { unseen, active, groups })
    return reason === undefined ? undefined : { people: unseen, reason }
  }

  async function complete(tx: TenantTx, tenant: Tenant, row: SyncRow, actor: Actor): Promise<void> {
    const { unmatched } = await directory.counts(tx)
    row.status = 'completed'
    row.finished_at = formatTimestamp(Date.now())
    row.unmatched = unmatched
    await deleteEntries(tx, row.sync_id)
    await governance.append(tx, tenant, {
      kind: 'roster.scim_sync_completed',
      subject: `sync:${row.sync_id}`,
      details: syncDetails(row),
      actor,
    })
  }

  return {
    /** Deactivates a batch of people absent from the directory, or requests confirmation first. */
    absent: (attempt: SyncAttempt) =>
      takeStep(database, attempt, async (tx, row) => {
        const asked = await askFirst(tx, row)
        if (asked) {
          row.status = 'awaiting_confirmation'
          row.to_deactivate = asked.people
          row.confirmation_reason = asked.reason
          return
        }
        const { tenant, syncId, actor } = attempt
        const gone = await directory.deactivateUnseen(tx, tenant, syncId, actor, rosterPullPageSize)
        row.deactivated += gone.deactivated
        nameKept(row.position, gone.keptActive)
        // The remaining share only falls, so a check that passed once stays passed.
        if (gone.deactivated === 0) row.position.phase = 'archetypes'
      }),
    /** Reconciles the archetypes of a batch of people. The last batch completes the sync. */
    archetypes: (attempt: SyncAttempt) =>
      takeStep(database, attempt, async (tx, row) => {
        const { tenant, actor } = attempt
        const page = { after: row.position.after, limit: rosterPullPageSize }
        const { next } = await directory.assignArchetypes(tx, tenant, actor, page)
        if (next === undefined) await complete(tx, tenant, row, actor)
        else row.position.after = next
      }),
  }
}

/** Returns why a person must confirm before people are deactivated; undefined if no reason exists. */
export function reasonToAsk(
  position: SyncPosition,
  { unseen, active, groups }: { unseen: number; active: number; groups: number },
): string | undefined {
  const percent = Math.round(massDeactivation.share * 100)
  const isMany = (gone: number, all: number) => gone > massDeactivation.people && gone > all * massDeactivation.share
  if (unseen > 0 && position.users === 0) return 'The directory has no people.'
  if (isMany(unseen, active))
    return `${unseen} of ${active} active people are no longer in the directory: more than ${percent} %.`
  if (unseen > 0 && position.usersDoubtful) {
    return 'The directory reports more people than it returned, in every attempt.'
  }
  const gone = groups - position.groups
  if (gone > 1 && position.groups === 0) return 'The directory has no groups any more; archetypes come from groups.'
  if (isMany(gone, groups)) return `${gone} of ${groups} groups are no longer in the directory: more than ${percent} %.`
  return undefined
}

/** Returns the details for events of a sync: counts, states and times, but no names of people. */
export function syncDetails(row: SyncRow): Record<string, JsonValue> {
  return {
    sync_id: row.sync_id,
    mode: row.mode,
    status: row.status,
    added: row.added,
    updated: row.updated,
    deactivated: row.deactivated,
    unmatched: row.unmatched,
    skipped: row.skipped,
    ...(row.to_deactivate !== null && { to_deactivate: row.to_deactivate }),
    ...(row.position.keptActive.length > 0 && { kept_active: [...row.position.keptActive] }),
    ...(row.started_at !== null && { started_at: row.started_at }),
    ...(row.finished_at !== null && { finished_at: row.finished_at }),
    ...(row.error && { reason: row.error.detail }),
  }
}
