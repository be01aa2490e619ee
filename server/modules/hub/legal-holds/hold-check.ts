import { holdsNamedMax } from '../../../../contract/limits.ts'
import { matchesFilter, type RecordFilter } from '../../../../contract/record-filter.ts'
import type { HeldRecord } from '../../../records/record-rows.ts'
import type { VerifiedEvents } from '../verification/verified-events.ts'
import { matchesPurgeRelease, requiredFourEyes } from './hold-events.ts'
import type { HoldReleaseVerifier } from './hold-release-verifier.ts'
import { filteredReleasedBy, type HoldEnd, namedReleasedBy } from './hold-release-verifier-store.ts'
import { holdsNaming, holdsWithFilter, shareHoldsLock } from './holds-store.ts'
import type { HoldCheck, HoldName } from './holds-types.ts'
import { findReleases } from './releases-store.ts'

/**
 * Creates the hold check. A row in force counts by itself; a released row counts as released only with a verified
 * governance event.
 */
export function createHoldCheck({
  verifiedEvents,
  ends,
}: {
  verifiedEvents: VerifiedEvents
  ends: HoldReleaseVerifier
}): HoldCheck {
  return {
    lock: shareHoldsLock,

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
        return matchesPurgeRelease(event, release) ? [{ ...release, fourEyes: requiredFourEyes(event) }] : []
      })
    },
  }
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

function idsOf(records: readonly HeldRecord[]): string[] {
  return records.map((record) => record.record_id)
}
