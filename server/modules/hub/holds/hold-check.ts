import { holdsNamedMax } from '../../../../contract/limits.ts'
import { type FilteredRecord, matchesFilter } from '../../../../contract/record-filter.ts'
import type { TenantTx } from '../../../db/database.ts'
import { timeOfRecordId } from '../record-clock.ts'
import { holdsNaming, holdsWithFilter, shareHoldsLock } from './holds-store.ts'
import type { HeldRecord, HoldCheck, HoldName } from './holds-types.ts'

export function createHoldCheck(): HoldCheck {
  return { lock: shareHoldsLock, activeOver: holdsOver }
}

async function holdsOver(tx: TenantTx, records: readonly HeldRecord[]): Promise<HoldName[][]> {
  if (records.length === 0) return []
  const naming = await holdsNaming(
    tx,
    records.map((record) => record.record_id),
    // One more than are named, so that whoever names them knows that there are more.
    holdsNamedMax + 1,
  )
  const filtering = await holdsWithFilter(tx)
  const namingOf = Map.groupBy(naming, (hold) => hold.record_id)
  return records.map((record) =>
    [
      ...(namingOf.get(record.record_id) ?? []),
      ...filtering.filter((hold) => matchesFilter(hold.filter, record, record.created_at)),
    ].map(({ hold_id, name }) => ({ hold_id, name })),
  )
}

/** A stored record as holds look at it. Its time comes from its id, which carries it: its text may be unreadable. */
export function heldRecordOf(row: FilteredRecord): HeldRecord {
  const { record_id, record_type, created_by, skill_id, archetype_id, user_id, event_kind } = row
  const created_at = timeOfRecordId(record_id)
  return { record_id, record_type, created_by, skill_id, archetype_id, user_id, event_kind, created_at }
}
