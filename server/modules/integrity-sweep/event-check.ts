import { toBase64 } from '../../../provenance/bytes.ts'
import { isJsonObject, type JsonObject } from '../../../provenance/json.ts'
import { recoveryEndOf } from '../../../provenance/purge-event.ts'
import { parseCanonical } from '../../records/record-response.ts'
import type { StandingRow, TombstoneRow } from './sweep-store.ts'
import type { Finding } from './sweep-types.ts'

/** A governance event of the service about the state of a record, parsed from a verified text. */
export interface StateChange {
  eventId: string
  kind: string
  recordId: string
  details: JsonObject
}

const changeKinds = new Set(['hub.record_purged', 'hub.record_restored', 'hub.record_hard_deleted'])

/** Parses an event. Returns undefined for any other record. */
export function parseStateChange(row: { record_id: string; event_kind: string | null; canonical: string }) {
  if (row.event_kind === null || !changeKinds.has(row.event_kind)) return undefined
  const { event_kind, created_by, subject, details } = parseCanonical(row.canonical) ?? {}
  const recordId = typeof subject === 'string' ? recordSubject.exec(subject)?.[1] : undefined
  if (typeof event_kind !== 'string' || created_by !== 'service:hub') return undefined
  if (recordId === undefined || !isJsonObject(details)) return undefined
  return { eventId: row.record_id, kind: event_kind, recordId, details } satisfies StateChange
}

const recordSubject = /^record:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** Compares a record with an event about its state. The record must have at least that revision, or be erased. */
export function checkChange(change: StateChange, standing: StandingRow | undefined): Finding[] {
  const { eventId, kind, recordId, details } = change
  const subject = `record:${recordId}`
  const hasTombstone = standing?.has_tombstone === true
  if (kind === 'hub.record_hard_deleted') {
    if (hasTombstone) return []
    return [{ subject, failedChecks: ['tombstone_present'], found: { event: eventId } }]
  }
  // A record that is gone without a tombstone shows as a missing leaf.
  if (hasTombstone || standing === undefined) return []
  const stored = standing.revision ?? 0
  // Events of an earlier version lack the revision; they prove only that a state exists.
  const claimed = typeof details.revision === 'number' ? details.revision : 1
  if (stored >= claimed) return []
  return [
    {
      subject,
      failedChecks: ['state_follows_events'],
      found: { event: eventId, event_kind: kind, revision: claimed, stored_revision: stored },
    },
  ]
}

/**
 * Returns a finding for an erasure that no verified event records exactly.
 *
 * @param events the events that the tombstone names, if they exist and verify
 * @param leaf the leaf of the record in its seal; undefined if the seal cannot be read
 */
export function checkTombstone(
  tombstone: TombstoneRow,
  { erased: event, purged }: { erased: StateChange | undefined; purged: StateChange | undefined },
  leaf: Uint8Array | undefined,
): Finding[] {
  const { record_id, seal_id, leaf_index, purged_at, purged_by, purge_reason, erased_at, record_type } = tombstone
  const isProven =
    event?.kind === 'hub.record_hard_deleted' &&
    event.recordId === record_id &&
    event.details.seal_id === seal_id &&
    event.details.leaf_index === leaf_index &&
    event.details.record_type === record_type &&
    event.details.purged_at === purged_at &&
    event.details.purged_by === purged_by &&
    event.details.reason === purge_reason &&
    event.details.erased_at === erased_at &&
    (leaf === undefined || event.details.leaf_hash === toBase64(leaf)) &&
    (event.details.repeated === true || wasBufferOver(event, tombstone, purged))
  if (isProven) return []
  return [
    {
      subject: `record:${record_id}`,
      failedChecks: ['tombstone_proven'],
      found: { seal: seal_id, leaf_index, event: tombstone.event_id },
    },
  ]
}

/**
 * Returns whether the recovery period was over at the erasure. Does not apply to records that a restored backup brought
 * back: they had been erased after it, and are erased again at once.
 */
function wasBufferOver({ details }: StateChange, tombstone: TombstoneRow, purged: StateChange | undefined): boolean {
  const { purge_event = tombstone.purge_event_id, erased_at, as_of = erased_at } = details
  if (purged?.kind !== 'hub.record_purged' || purged.eventId !== purge_event) return false
  if (purged.recordId !== tombstone.record_id || purged.details.purged_at !== tombstone.purged_at) return false
  const end = recoveryEndOf(purged.details)
  return end !== undefined && typeof as_of === 'string' && end <= as_of
}
