import type { EventFilter } from '../../../contract/event-filter.ts'
import type { RecordType } from '../../../contract/literals.ts'

export type RecordSort = 'created_at' | '-created_at' | 'cost_usd_estimate' | '-cost_usd_estimate'

/** The last record of a page. The next page begins behind it. */
export interface PagePosition {
  recordId: string
  /** Only when sorting by cost. */
  costMicros?: string
}

/** The records that a query finds. Absent members do not restrict. */
export interface RecordCriteria {
  /** The types that parameters and scopes permit; all if absent. */
  recordTypes?: readonly RecordType[] | undefined
  recordId?: string | undefined
  skillId?: string | undefined
  archetypeId?: string | undefined
  userId?: string | undefined
  createdBy?: string | undefined
  eventKind?: string | undefined
  traceId?: string | undefined
  sessionId?: string | undefined
  /** The smallest record id of the lower bound of created_at. */
  fromId?: string | undefined
  /** The smallest record id of the upper bound of created_at; exclusive. */
  beforeId?: string | undefined
  /** Conditions on members of the text. */
  event?: EventFilter | undefined
  includePurged: boolean
}

export interface PageRequest {
  sort: RecordSort
  limit: number
  after?: PagePosition | undefined
  /**
   * The time of the read. Purged records whose recovery period ended by then are gone, whether or not they are already
   * erased.
   */
  now: string
}
