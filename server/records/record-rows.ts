import type { FilteredRecord } from '../../contract/record-filter.ts'
import type { TenantTables } from '../db/schema.ts'
import { timeOfRecordId } from './record-clock.ts'

/**
 * The place of a record in its seal, and the parts of its cosignature. Somebody may have edited the values, here and
 * below, and reads must report that instead of failing. So a column is text if JavaScript cannot represent all of its
 * values.
 */
export interface StoredPlace {
  record_id: string
  /** In hexadecimal digits. */
  provenance_hash: string
  seal_id: string
  leaf_index: number
  /** The key of the seal. This and the members below are null if the seal is gone. */
  key_id: string | null
  /** A time in PostgreSQL's output form, such as `2026-01-31 08:00:00.123456+00` or `infinity`. */
  sealed_at: string | null
  leaves_bytes: number | null
  /**
   * The record's salt, the seal's signature, the leaves that share the record's upper node, and the upper nodes on its
   * path, concatenated. Also null if salt or signature have a wrong length.
   */
  cosign_parts: Buffer | null
  /** The leaves of a seal without upper nodes; `cosign_parts` then ends with the signature. */
  leaves: Buffer | null
}

/** The parts of a response about a record: its text, its changeable state, and its place. */
export interface AnsweredRecord extends StoredPlace {
  record_type: string
  canonical: string
  /** Null for a record that was never purged, or was restored. */
  purged_at: string | null
  cost_micros: string | null
}

/** A whole record, with the search columns that verification compares. */
export interface StoredRecord extends AnsweredRecord {
  /**
   * The number of changes of its state; null for none. Read together with the state, because an entity tag identifies
   * both.
   */
  revision: number | null
  tenant_id: string
  created_by: string
  skill_id: string | null
  archetype_id: string | null
  user_id: string | null
  event_kind: string | null
  trace_id: string | null
  session_id: string | null
  /** In hexadecimal digits. */
  salt: string
}

export type StoredSeal = Pick<
  TenantTables['hub.seals'],
  'seal_id' | 'key_id' | 'leaves' | 'upper_nodes' | 'signature'
> & {
  /** The same form as in {@link StoredPlace}. */
  sealed_at: string
}

/** A stored record without its seal, which is read once for all of its records. */
export type SealedRow = Omit<StoredRecord, 'key_id' | 'sealed_at' | 'leaves_bytes' | 'cosign_parts' | 'leaves'>

/** The fields of a record that holds match. */
export interface HeldRecord extends FilteredRecord {
  /** RFC 3339, UTC, six fractional digits; identical in the canonical text and the id. */
  created_at: string
}

/**
 * Returns the fields of a stored record that holds match. The time comes from the id, because the text may be
 * unreadable.
 */
export function heldRecordOf(row: FilteredRecord): HeldRecord {
  const { record_id, record_type, created_by, skill_id, archetype_id, user_id, event_kind } = row
  const created_at = timeOfRecordId(record_id)
  return { record_id, record_type, created_by, skill_id, archetype_id, user_id, event_kind, created_at }
}
