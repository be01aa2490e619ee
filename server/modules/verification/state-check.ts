import { isJsonObject } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import { parseCanonical } from '../../records/record-response.ts'
import { heldRecordOf, type SealedRow, type StoredRecord } from '../../records/record-rows.ts'
import { findStates, neverErased, type StateOfRecord } from '../../records/record-state-store.ts'
import { findRecords, includingErasable } from '../../records/record-store.ts'
import type { HoldCheck } from '../legal-holds/holds-types.ts'

/** The data that verification compares with the changed states of records. */
export interface StateEvidence {
  states: ReadonlyMap<string, StateOfRecord>
  /** The governance events that the states name, by id. They are verified with the records. */
  events: ReadonlyMap<string, StoredRecord>
  /** The ids of the records that were purged under a hold or without the required release. */
  purgedUnderHold: ReadonlySet<string>
}

/** Loads the evidence. Queries the database only for records whose state has changed. */
export async function loadStateEvidence(
  tx: TenantTx,
  rows: readonly SealedRow[],
  holds: HoldCheck,
): Promise<StateEvidence> {
  const changed = rows.filter((row) => row.purged_at !== null || (row.revision ?? 0) > 0)
  if (changed.length === 0) return { states: new Map(), events: new Map(), purgedUnderHold: new Set() }
  const stored = await findStates(
    tx,
    changed.map((row) => row.record_id),
  )
  const states = new Map(stored.map((state) => [state.record_id, state]))
  const events = await findRecords(tx, [...new Set(stored.flatMap((state) => state.event_id ?? []))], includingErasable)
  const purged = changed.flatMap((row) => {
    const purged_at = states.get(row.record_id)?.purged_at ?? row.purged_at
    return purged_at === null ? [] : [{ ...heldRecordOf(row), purged_at }]
  })
  return {
    states,
    events: new Map(events.map((event) => [event.record_id, event])),
    purgedUnderHold: await holds.purgedUnderHold(tx, purged),
  }
}

/**
 * Returns whether the stored state of a record agrees with its last governance event. A state that somebody changed by
 * hand has no such event.
 *
 * @param isSound returns whether an event verifies
 */
export function stateAgrees(
  { record_id }: SealedRow,
  { states, events }: StateEvidence,
  isSound: (event: StoredRecord) => boolean,
): boolean {
  const state = states.get(record_id)
  // No state: never changed.
  if (state === undefined) return true
  const event = events.get(state.event_id ?? '')
  if (event === undefined || !isSound(event)) return false
  const { event_kind, created_by, subject, details } = parseCanonical(event.canonical) ?? {}
  if (created_by !== 'service:hub' || subject !== `record:${record_id}`) return false
  if (!isJsonObject(details) || !isAbsentOr(state.revision, details.revision)) return false
  if (state.purged_at === null) return event_kind === 'hub.record_restored' && state.hard_delete_after === null
  return (
    event_kind === 'hub.record_purged' &&
    details.purged_at === state.purged_at &&
    details.reason === state.purge_reason &&
    details.actor === state.purged_by &&
    endsNotBefore(state.hard_delete_after, details.hard_delete_after) &&
    (state.hard_delete_after !== neverErased || state.is_frozen)
  )
}

/** Compares a value with the event's. Events of an earlier version of the service lack some values. */
function isAbsentOr(stored: unknown, recorded: unknown): boolean {
  return recorded === undefined || recorded === stored
}

/** Compares the ends of the recovery period. Holds may postpone the end. */
function endsNotBefore(end: string | null, recorded: unknown): boolean {
  return end !== null && (typeof recorded !== 'string' || end >= recorded)
}
