import type { RecordType } from '../../../contract/literals.ts'
import type { TenantTables } from '../../db/schema.ts'

/**
 * Where a record stands in its seal, and what its cosignature is made of. Nothing is assumed of the values, here and
 * below: someone may have edited them, and reading must say so, not fail. So what JavaScript cannot hold for every
 * value of the column is text.
 */
export interface StoredPlace {
  record_id: string
  /** In hexadecimal digits. */
  provenance_hash: string
  seal_id: string
  leaf_index: number
  /** Of the seal, as are the members below: all null where it is gone. */
  key_id: string | null
  /** As PostgreSQL writes it, such as `2026-01-31 08:00:00.123456+00` or `infinity`. */
  sealed_at: string | null
  leaves_bytes: number | null
  /**
   * The record's salt, the seal's signature, the leaves that share the record's upper node, and the upper nodes on its
   * path, one after the other. Null also where salt or signature do not have their lengths.
   */
  cosign_parts: Buffer | null
  /** Only of a seal without upper nodes: `cosign_parts` then ends with the signature. */
  leaves: Buffer | null
}

/** What an answer tells of a record: its text, what may change about it, and its place. */
export interface AnsweredRecord extends StoredPlace {
  record_type: string
  canonical: string
  /** Null in a record that was never purged, or was restored. */
  purged_at: string | null
  cost_micros: string | null
}

/** A whole record, with the columns that it is searched by, which verification compares. */
export interface StoredRecord extends AnsweredRecord {
  /** How often its state has changed; null for never. Read with the state: an entity tag names what it came with. */
  revision: number | null
  tenant_id: string
  created_by: string
  skill_id: string | null
  archetype_id: string | null
  user_id: string | null
  event_kind: string | null
  /** In hexadecimal digits. */
  salt: string
}

export type StoredSeal = Pick<
  TenantTables['hub.seals'],
  'seal_id' | 'key_id' | 'leaves' | 'upper_nodes' | 'signature'
> & {
  /** As in {@link StoredPlace}. */
  sealed_at: string
}

export type RecordSort = 'created_at' | '-created_at' | 'cost_usd_estimate' | '-cost_usd_estimate'

/** The last record of a page: the next one begins behind it. */
export interface PagePosition {
  recordId: string
  /** Only when sorting by cost. */
  costMicros?: string
}

/** Which records a query finds. Absent members do not restrict. */
export interface RecordCriteria {
  /** The types that parameters and scopes leave; all if absent. */
  recordTypes?: readonly RecordType[] | undefined
  recordId?: string | undefined
  skillId?: string | undefined
  archetypeId?: string | undefined
  userId?: string | undefined
  createdBy?: string | undefined
  eventKind?: string | undefined
  /** Smallest record id of the lower bound of created_at. */
  fromId?: string | undefined
  /** Smallest record id of the upper bound of created_at; excluded. */
  beforeId?: string | undefined
  includePurged: boolean
}

export interface PageRequest {
  sort: RecordSort
  limit: number
  after?: PagePosition | undefined
  /** Purged records whose recovery buffer ended by then are gone, whether or not they have been removed yet. */
  now: string
}
