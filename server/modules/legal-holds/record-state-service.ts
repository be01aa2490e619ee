import type { Static } from 'typebox'
import { holdsNamedMax } from '../../../contract/limits.ts'
import { canSee } from '../../../contract/record-visibility.ts'
import { readTenant } from '../../db/database.ts'
import type { Caller } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { recordNotFound } from '../../records/record-errors.ts'
import { heldRecordOf } from '../../records/record-rows.ts'
import { findStates } from '../../records/record-state-store.ts'
import { findRecord } from '../../records/record-store.ts'
import type { RecordStateSchema } from './holds-schemas.ts'
import type { HoldCheck } from './holds-types.ts'

type RecordStateResponse = Static<typeof RecordStateSchema>

/** Reports the holds over a record and the end of its recovery period. Record ids are in lower case, as stored. */
export type RecordStates = ReturnType<typeof createRecordStates>

export function createRecordStates(deps: Pick<ModuleParts, 'database' | 'clock'> & { holds: HoldCheck }) {
  const { database, clock, holds } = deps
  return {
    /** Returns the state of a record. Throws `not-found` also for a record that the caller can neither see nor purge. */
    get: ({ tenant, scopes }: Caller, recordId: string): Promise<RecordStateResponse> =>
      readTenant(
        database,
        tenant.slug,
        async (tx) => {
          const record = await findRecord(tx, recordId, clock.next().createdAt)
          const isKnown = record !== undefined && (canSee(scopes, record.record_type) || scopes.has('hub:purge'))
          if (!isKnown) throw recordNotFound(recordId)
          const [state] = await findStates(tx, [recordId])
          const [over = []] = await holds.activeOver(tx, [heldRecordOf(record)])
          return {
            record_id: recordId,
            is_purged: record.purged_at !== null,
            ...(state && record.purged_at !== null && purgeOf(state)),
            holds: over.slice(-holdsNamedMax),
            truncated: over.length > holdsNamedMax,
          }
        },
        { snapshot: true },
      ),
  }
}

/** Returns the purge of a state. Omits the end of a paused recovery period. */
function purgeOf(state: Awaited<ReturnType<typeof findStates>>[number]): Partial<RecordStateResponse> {
  const { purged_at, purged_by, purge_reason, hard_delete_after, is_frozen } = state
  return {
    ...(purged_at !== null && { purged_at }),
    ...(purged_by !== null && { purged_by }),
    ...(purge_reason !== null && { purge_reason }),
    ...(hard_delete_after !== null && !is_frozen && { hard_delete_after }),
  }
}
