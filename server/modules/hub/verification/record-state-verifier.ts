import { matchesFilter } from '../../../../contract/record-filter.ts'
import { isJsonObject } from '../../../../provenance/json.ts'
import { parseCanonical } from '../../../records/record-response.ts'
import type { SealedRow, StoredRecord } from '../../../records/record-rows.ts'
import { heldRecordOf } from '../../../records/record-rows.ts'
import { neverErased } from '../../../records/record-state-store.ts'
import type { HoldPeriod } from '../legal-holds/hold-history-store.ts'
import { lacksRelease } from '../legal-holds/purge-release-policy.ts'
import type { StateEvidence } from './record-state-evidence.ts'

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

/**
 * Returns whether a record was purged while a hold was in force or, for a governance event, without an active release.
 */
export function wasPurgedUnderHold(row: SealedRow, evidence: StateEvidence): boolean {
  const purged_at = evidence.states.get(row.record_id)?.purged_at ?? row.purged_at
  if (purged_at === null) return false
  if (lacksRelease({ ...row, purged_at }, evidence.releases)) return true
  const wasInForce = (hold: HoldPeriod) =>
    hold.created_at <= purged_at && (hold.released_at === null || purged_at < hold.released_at)
  if (evidence.naming.get(row.record_id)?.some(wasInForce)) return true
  const record = heldRecordOf(row)
  return evidence.filtering.some(
    (hold) => wasInForce(hold) && hold.filter !== null && matchesFilter(hold.filter, record, record.created_at),
  )
}
