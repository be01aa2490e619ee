import { hash } from 'node:crypto'
import { canonicalize } from '../../../../provenance/index.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../provenance/json.ts'
import { timeOfRecordId } from '../record-clock.ts'
import type { Release } from '../record-state-store.ts'
import type { VerifiedEvent } from '../verified-events.ts'
import type { HoldRow } from './holds-store.ts'

/**
 * What governance events tell of holds and releases, and whether a row is what its event tells: who writes rows by hand
 * has no event for them.
 */

export const appliedKind = 'hub.legal_hold_applied'
/** Of a hold, or, with the subject of a record, of a release that lets a governance event be purged. */
export const releasedKind = 'hub.legal_hold_released'

/** What a hold says of itself when it is placed. */
type Placed = Pick<HoldRow, 'name' | 'reason' | 'filter' | 'record_count' | 'created_at' | 'created_by'>
type Ended = Placed & Pick<HoldRow, 'hold_id' | 'released_at' | 'released_by' | 'release_reason'>

/**
 * SHA-256, in hexadecimal digits, over the ids of the records that a hold names: in their order, in lower case, with a line
 * feed between.
 */
export function digestOfRecordIds(recordIds: readonly string[]): string {
  return hash('sha256', [...recordIds].sort().join('\n'))
}

/** @param recordIds those that the hold names; none with a filter */
export function appliedDetails(hold: Placed, recordIds: readonly string[]): JsonObject {
  return {
    ...scopeDetails(hold),
    ...(hold.filter === null ? { records_digest: digestOfRecordIds(recordIds) } : {}),
    after: { active: true, created_at: hold.created_at, created_by: hold.created_by },
  }
}

export function releasedDetails(hold: Ended): JsonObject {
  return {
    ...scopeDetails(hold),
    reason: hold.release_reason,
    before: { active: true, created_at: hold.created_at },
    after: { active: false, released_at: hold.released_at, released_by: hold.released_by },
  }
}

function scopeDetails({ name, reason, filter, record_count }: Placed): JsonObject {
  return { name, reason, ...(filter === null ? { record_count } : { filter: { ...filter } as JsonObject }) }
}

export function releaseDetails({ release_id, reason, created_at, expires_at }: Release): JsonObject {
  return { release_id, reason, created_at, ...(expires_at === null ? {} : { expires_at }) }
}

/**
 * Whether the event tells of the beginning of exactly this hold.
 *
 * @param digest of the ids of its records as they are stored; undefined with a filter
 */
export function matchesHold(
  told: VerifiedEvent | undefined,
  hold: Placed & { hold_id: string; filter: unknown },
  digest: string | undefined,
): boolean {
  if (told?.kind !== appliedKind || told.subject !== `hold:${hold.hold_id}`) return false
  const { name, reason, filter, record_count, records_digest } = told.details
  const after = membersOf(told.details.after)
  const isSameScope =
    hold.filter === null
      ? filter === undefined && record_count === hold.record_count && records_digest === digest
      : hold.record_count === null && isSame(filter, hold.filter)
  return (
    isSameScope &&
    name === hold.name &&
    reason === hold.reason &&
    after.created_at === hold.created_at &&
    after.created_by === hold.created_by
  )
}

/** Whether the event tells of the end of this hold, as its row does. */
export function matchesHoldRelease(
  told: VerifiedEvent | undefined,
  hold: Pick<HoldRow, 'hold_id' | 'released_at'> & Partial<Pick<HoldRow, 'released_by' | 'release_reason'>>,
): boolean {
  if (told?.kind !== releasedKind || told.subject !== `hold:${hold.hold_id}`) return false
  const { released_at, released_by } = membersOf(told.details.after)
  return (
    released_at === hold.released_at &&
    (hold.released_by === undefined || released_by === hold.released_by) &&
    (hold.release_reason === undefined || told.details.reason === hold.release_reason)
  )
}

/** Whether the event tells of exactly this release of a governance event. */
export function matchesPurgeRelease(told: VerifiedEvent | undefined, release: Release): boolean {
  if (told?.kind !== releasedKind || told.subject !== `record:${release.record_id}`) return false
  const { release_id, reason, created_at, expires_at, actor } = told.details
  return (
    release_id === release.release_id &&
    reason === release.reason &&
    actor === release.created_by &&
    // Events of an earlier version do not tell it; the id carries it.
    (created_at === undefined || created_at === release.created_at) &&
    timeOfRecordId(release.release_id) === release.created_at &&
    (expires_at ?? null) === release.expires_at
  )
}

/** Whether four eyes were required when it was released: who did it may not purge, whatever the setting is now. */
export function requiredFourEyes(told: VerifiedEvent | undefined): boolean {
  return told?.details.four_eyes === true
}

function membersOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function isSame(told: JsonValue | undefined, stored: unknown): boolean {
  return (
    isJsonObject(told) && isJsonObject(stored as JsonValue) && canonicalize(told) === canonicalize(stored as JsonObject)
  )
}
