import { LRUCache } from 'lru-cache'
import type { TenantTx } from '../../db/database.ts'
import type { VerifiedEvents } from '../verification/verification-types.ts'
import { digestOfFilterEnds, endsNaming, filterEndsAfter, type HoldEnd } from './hold-check-store.ts'
import { holdEvents } from './hold-events.ts'

const partSize = 1_000
const tenantsRememberedMax = 10_000

/** Distinguishes releases of holds by the service from those that somebody wrote into the database. */
export function createHoldReleaseVerifier(verifiedEvents: VerifiedEvents) {
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
