import type { RecordType } from '../../../contract/literals.ts'
import type { TenantTables } from '../../db/schema.ts'

/**
 * A record as it is stored, with what may change about it. Nothing is assumed of the values: someone may have edited
 * them, and reading must say so, not fail. So what JavaScript cannot hold for every value of the column is text.
 */
export type StoredRecord = Omit<TenantTables['hub.records'], 'cost_micros'> & {
  cost_micros: string | null
  /** Null in a record that was never purged, or was restored. */
  purged_at: string | null
  /** How often its state has changed; null for never. Read with the state: an entity tag names what it came with. */
  revision: number | null
}

export type StoredSeal = Omit<TenantTables['hub.seals'], 'sealed_at'> & {
  /** As PostgreSQL writes it, such as `2026-01-31 08:00:00.123456+00` or `infinity`. */
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
