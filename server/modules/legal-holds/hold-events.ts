import { hash } from 'node:crypto'
import { canonicalize } from '../../../provenance/index.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/json.ts'
import { timeOfRecordId } from '../../records/record-clock.ts'
import type { VerifiedEvent } from '../verification/verification-types.ts'
import type { HoldEvents, HoldRow, PlacedHold, Release } from './holds-types.ts'

/**
 * Builds the details of governance events about holds and releases, and matches rows with their events. A row that
 * somebody wrote by hand has no matching event.
 */

export const appliedKind = 'hub.legal_hold_applied'
/**
 * The kind of a hold's release, or, with a record as its subject, of a release that permits purging a governance event.
 */
export const releasedKind = 'hub.legal_hold_released'

type Ended = PlacedHold & Pick<HoldRow, 'hold_id' | 'released_at' | 'released_by' | 'release_reason'>

/**
 * Returns the SHA-256, in hexadecimal digits, of the record ids that a hold names: sorted, in lower case, joined by
 * line feeds.
 */
export function digestOfRecordIds(recordIds: readonly string[]): string {
  return hash('sha256', [...recordIds].sort().join('\n'))
}

/** @param recordIds the records that the hold names; empty with a filter */
export function appliedDetails(hold: PlacedHold, recordIds: readonly string[]): JsonObject {
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

function scopeDetails({ name, reason, filter, record_count }: PlacedHold): JsonObject {
  return { name, reason, ...(filter === null ? { record_count } : { filter: { ...filter } as JsonObject }) }
}

export function releaseDetails({ release_id, reason, created_at, expires_at }: Release): JsonObject {
  return { release_id, reason, created_at, ...(expires_at === null ? {} : { expires_at }) }
}

export const holdEvents: HoldEvents = {
  matchesHold(event, hold, digest) {
    if (event?.kind !== appliedKind || event.subject !== `hold:${hold.hold_id}`) return false
    const { name, reason, filter, record_count, records_digest } = event.details
    const after = membersOf(event.details.after)
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
  },

  matchesHoldRelease(event, hold) {
    if (event?.kind !== releasedKind || event.subject !== `hold:${hold.hold_id}`) return false
    const { released_at, released_by } = membersOf(event.details.after)
    return (
      released_at === hold.released_at &&
      (hold.released_by === undefined || released_by === hold.released_by) &&
      (hold.release_reason === undefined || event.details.reason === hold.release_reason)
    )
  },

  matchesPurgeRelease(event, release) {
    if (event?.kind !== releasedKind || event.subject !== `record:${release.record_id}`) return false
    const { release_id, reason, created_at, expires_at, actor } = event.details
    return (
      release_id === release.release_id &&
      reason === release.reason &&
      actor === release.created_by &&
      // Events of an earlier version lack it; the id contains it.
      (created_at === undefined || created_at === release.created_at) &&
      timeOfRecordId(release.release_id) === release.created_at &&
      (expires_at ?? null) === release.expires_at
    )
  },
}

/**
 * Returns whether four eyes were required at the release. If so, its author may not purge, regardless of the present
 * setting.
 */
export function requiredFourEyes(event: VerifiedEvent | undefined): boolean {
  return event?.details.four_eyes === true
}

function membersOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function isSame(recorded: JsonValue | undefined, stored: unknown): boolean {
  return (
    isJsonObject(recorded) &&
    isJsonObject(stored as JsonValue) &&
    canonicalize(recorded) === canonicalize(stored as JsonObject)
  )
}
