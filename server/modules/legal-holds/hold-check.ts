import { LRUCache } from 'lru-cache'
import { holdsNamedMax } from '../../../contract/limits.ts'
import { matchesFilter, type RecordFilter } from '../../../contract/record-filter.ts'
import type { TenantTx } from '../../db/database.ts'
import type { HeldRecord } from '../../records/record-rows.ts'
import type { VerifiedEvents } from '../verification/verification-types.ts'
import {
  digestOfFilterEnds,
  endsNaming,
  filterEndsAfter,
  filteredReleasedBy,
  findEndedHolds,
  findFilterPeriods,
  findHoldsInForce,
  findNamedPeriods,
  type HoldEnd,
  type HoldPeriod,
  namedReleasedBy,
} from './hold-check-store.ts'
import { holdEvents, requiredFourEyes } from './hold-events.ts'
import { holdsNaming, holdsWithFilter, lastRelease, shareHoldsLock } from './holds-store.ts'
import type { HoldCheck, HoldName, PurgedRecord, Release } from './holds-types.ts'
import { findReleases } from './releases-store.ts'

/**
 * Creates the hold check. A row in force counts by itself; a released row counts as released only with a verified
 * governance event.
 */
export function createHoldCheck(verifiedEvents: VerifiedEvents): HoldCheck {
  const ends = createHoldReleaseVerifier(verifiedEvents)
  return {
    lock: shareHoldsLock,
    lastRelease,
    lacksRelease,

    async activeOver(tx, records, { except } = {}) {
      if (records.length === 0) return []
      const ids = idsOf(records)
      const unended = await ends.unproven(tx, ids)
      const isOther = ({ hold_id }: HoldName) => hold_id !== except
      // One more than errors name, so that the caller knows of further holds.
      const naming = (await holdsNaming(tx, ids, unended, holdsNamedMax + 1)).filter(isOther)
      const filtering = (await holdsWithFilter(tx, unended)).filter(isOther)
      return holdsOver(records, naming, filtering)
    },

    async inForce(tx) {
      const ended = await findEndedHolds(tx)
      const unended = new Set(await ends.unprovenOf(tx, ended))
      return [
        ...(await findHoldsInForce(tx, holdsNamedMax)),
        ...ended.filter(({ hold_id }) => unended.has(hold_id)).map(({ hold_id, name }) => ({ hold_id, name })),
      ]
    },

    async releasedBy(tx, subject, records, fourEyes) {
      if (records.length === 0) return []
      const times = records.map((record) => record.created_at).sort()
      const naming = await namedReleasedBy(tx, subject, idsOf(records))
      const filtering = await filteredReleasedBy(tx, subject, times[0]!)
      const events = await verifiedEvents.find(
        tx,
        fourEyes ? [] : [...naming, ...filtering].map((hold) => hold.release_event_id),
      )
      const counts = ({ release_event_id }: HoldEnd) => fourEyes || requiredFourEyes(events.get(release_event_id ?? ''))
      return holdsOver(
        records,
        naming.filter(counts),
        filtering.filter(counts),
        ({ released_at }, { created_at }) => released_at > created_at,
      )
    },

    async releasesOf(tx, recordIds) {
      const releases = await findReleases(tx, recordIds)
      const events = await verifiedEvents.find(
        tx,
        releases.map((release) => release.event_id),
      )
      return releases.flatMap((release) => {
        const event = events.get(release.event_id ?? '')
        return holdEvents.matchesPurgeRelease(event, release) ? [{ ...release, fourEyes: requiredFourEyes(event) }] : []
      })
    },

    async idsWithoutRelease(tx, records) {
      const events = records.filter((record) => record.record_type === 'governance_event')
      const releases = await this.releasesOf(tx, idsOf(events))
      return new Set(idsOf(events.filter((event) => lacksRelease(event, releases))))
    },

    async purgedUnderHold(tx, purged) {
      if (purged.length === 0) return new Set()
      const unreleased = await this.idsWithoutRelease(tx, purged)
      const unended = await ends.unproven(tx, idsOf(purged))
      const times = [...new Set(purged.map((record) => record.purged_at))].sort()
      const naming = Map.groupBy(await findNamedPeriods(tx, purged, unended), (hold) => hold.record_id)
      const filtering = await findFilterPeriods(tx, times, unended)
      const wasHeld = (record: (typeof purged)[number]) =>
        unreleased.has(record.record_id) ||
        naming.get(record.record_id)?.some((hold) => wasInForce(hold, record)) ||
        filtering.some(
          (hold) =>
            wasInForce(hold, record) && hold.filter !== null && matchesFilter(hold.filter, record, record.created_at),
        )
      return new Set(idsOf(purged.filter(wasHeld)))
    },
  }
}

function wasInForce(hold: HoldPeriod, { purged_at }: PurgedRecord): boolean {
  return hold.created_at <= purged_at && (hold.released_at === null || purged_at < hold.released_at)
}

/** Compares times in the one text form of timestamps, which sorts by time. */
function lacksRelease({ record_id, record_type, purged_at }: PurgedRecord, releases: readonly Release[]): boolean {
  const isActive = ({ created_at, expires_at }: Release) =>
    created_at <= purged_at && (expires_at === null || purged_at < expires_at)
  if (record_type !== 'governance_event') return false
  return !releases.some((release) => release.record_id === record_id && isActive(release))
}

/** @param counts whether a filter hold that matches the record applies to it */
function holdsOver<Filtering extends HoldName & { filter: RecordFilter }>(
  records: readonly HeldRecord[],
  naming: readonly (HoldName & { record_id: string })[],
  filtering: readonly Filtering[],
  counts: (hold: Filtering, record: HeldRecord) => boolean = () => true,
): HoldName[][] {
  const namingOf = Map.groupBy(naming, (hold) => hold.record_id)
  return records.map((record) =>
    [
      ...(namingOf.get(record.record_id) ?? []),
      ...filtering.filter((hold) => counts(hold, record) && matchesFilter(hold.filter, record, record.created_at)),
    ].map(({ hold_id, name }) => ({ hold_id, name })),
  )
}

function idsOf(records: readonly { record_id: string }[]): string[] {
  return records.map((record) => record.record_id)
}

const partSize = 1_000
const tenantsRememberedMax = 10_000

/** Distinguishes releases of holds by the service from those that somebody wrote into the database. */
function createHoldReleaseVerifier(verifiedEvents: VerifiedEvents) {
  /**
   * Digests of the releases, for tenants whose releases were all proven. They save checking every release at each
   * purge.
   */
  const proven = new LRUCache<string, string>({ max: tenantsRememberedMax })

  /** Returns the ids of the given released holds that lack a verified governance event of the release. */
  async function unprovenOf(tx: TenantTx, ends: readonly HoldEnd[]): Promise<string[]> {
    const events = await verifiedEvents.find(
      tx,
      ends.map((end) => end.release_event_id),
    )
    return ends.flatMap((end) =>
      holdEvents.matchesHoldRelease(events.get(end.release_event_id ?? ''), end) ? [] : [end.hold_id],
    )
  }

  async function unprovenWithFilter(tx: TenantTx): Promise<string[]> {
    const digest = await digestOfFilterEnds(tx)
    if (digest === null || proven.get(tx.tenantId) === digest) return []
    const unproven: string[] = []
    for (let after: string | undefined; ; ) {
      const part = await filterEndsAfter(tx, after, partSize)
      unproven.push(...(await unprovenOf(tx, part)))
      if (part.length < partSize) break
      after = part.at(-1)!.hold_id
    }
    if (unproven.length === 0) proven.set(tx.tenantId, digest)
    return unproven
  }

  return {
    unprovenOf,
    /**
     * Returns the ids of released holds that have a filter, or name any of the records, and lack such an event. They are
     * still in force.
     */
    async unproven(tx: TenantTx, recordIds: readonly string[]): Promise<string[]> {
      const naming = await unprovenOf(tx, await endsNaming(tx, recordIds))
      return [...naming, ...(await unprovenWithFilter(tx))]
    },
  }
}
