import type { TenantTx } from '../../../db/database.ts'
import type { HoldCheck } from './holds-types.ts'
import type { Release } from './releases-store.ts'

/**
 * Returns whether a release permits purging at a time. Both times use the one text form of timestamps, which sorts by
 * time.
 */
export function isReleaseActive(release: Pick<Release, 'created_at' | 'expires_at'>, at: string): boolean {
  return release.created_at <= at && (release.expires_at === null || at < release.expires_at)
}

interface PurgedRecord {
  record_id: string
  record_type: string
  purged_at: string
}

/**
 * Returns whether a purged record lacks the release that its type requires. A governance event requires a release that
 * was active at its purge; it stays purged when that release ends.
 *
 * @param releases proven releases, at least all of the record
 */
export function lacksRelease(
  { record_id, record_type, purged_at }: PurgedRecord,
  releases: readonly Release[],
): boolean {
  if (record_type !== 'governance_event') return false
  return !releases.some((release) => release.record_id === record_id && isReleaseActive(release, purged_at))
}

/** Returns the ids of purged records that lack a release. They must not be erased. */
export async function idsWithoutRelease(
  tx: TenantTx,
  holds: Pick<HoldCheck, 'releasesOf'>,
  records: readonly PurgedRecord[],
): Promise<Set<string>> {
  const events = records.filter((record) => record.record_type === 'governance_event')
  const releases = await holds.releasesOf(
    tx,
    events.map((event) => event.record_id),
  )
  return new Set(events.filter((event) => lacksRelease(event, releases)).map((event) => event.record_id))
}
