import type { TenantTx } from '../../../db/database.ts'
import type { Release } from '../record-state-store.ts'
import type { HoldCheck } from './holds-types.ts'

/** Whether a release permits purging at a time; both in the one text form of timestamps, which sorts as time does. */
export function isReleaseActive(release: Pick<Release, 'created_at' | 'expires_at'>, at: string): boolean {
  return release.created_at <= at && (release.expires_at === null || at < release.expires_at)
}

interface PurgedRecord {
  record_id: string
  record_type: string
  purged_at: string
}

/**
 * Whether a record was purged without what its type needs: a governance event needs a release that was active then,
 * and stays purged when that ends later.
 *
 * @param releases proven ones, of the record at least
 */
export function lacksRelease(
  { record_id, record_type, purged_at }: PurgedRecord,
  releases: readonly Release[],
): boolean {
  if (record_type !== 'governance_event') return false
  return !releases.some((release) => release.record_id === record_id && isReleaseActive(release, purged_at))
}

/** Ids of those purged records that lack their release: they must not be erased. */
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
