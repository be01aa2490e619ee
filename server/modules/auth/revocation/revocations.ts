import { serviceTokenSeconds } from '../../../../contract/limits.ts'
import type { Database, DatabaseLog, Listener } from '../../../db/database.ts'
import { createSnapshotPoller } from '../../../db/snapshot-poller.ts'
import type { Revocations } from '../auth-types.ts'
import { deleteOldRevocations, revocationsChannel, revocationsSince, writeRevocations } from './revocations-store.ts'

interface Revoked {
  minEpoch: number
  knownAtMs: number
}

/** Holds the lowest valid epoch of each principal in memory. */
interface RevokedEpochs {
  /** Adds a revocation; the higher of two epochs stays. */
  add(tenantSlug: string, principal: string, minEpoch: number): void
  /** Returns the lowest valid epoch; 0 if nothing is revoked. Every request calls this several times. */
  minEpoch(tenantSlug: string, principal: string): number
  /** Deletes entries that concern no living token any more. */
  deleteOld(): void
}

/** Seconds to keep a revocation: longer than any access token lives, by the clock of any process. */
const rememberedSeconds = serviceTokenSeconds + 600

const lookEveryMs = 2_000

/**
 * Maximum age of a snapshot in milliseconds. An older one is not used, since revocation is promised within five
 * seconds.
 */
export const freshMs = 4_000

const deletedAtOnce = 1_000

/**
 * Opens the revocations of all tenants. It does no work before the first `isRevoked`, which commands never call. From
 * then on it reads new revocations every two seconds and on each notification. If the database is unreachable, no token
 * passes on stale data.
 *
 * @param deps.now a clock in milliseconds, for tests
 */
export async function openRevocations(deps: {
  database: Database
  log: DatabaseLog
  now?: () => number
}): Promise<Revocations> {
  const revoked = createRevokedEpochs(rememberedSeconds * 1000, deps.now ?? (() => performance.now()))
  /** Database time up to which revocations were read. */
  let knownUntil: string | undefined
  let listener: Listener | undefined
  let closed = false
  const poller = createSnapshotPoller({
    ...deps,
    subject: 'revoked tokens',
    everyMs: lookEveryMs,
    freshMs,
    read: (tx) => revocationsSince(tx, knownUntil),
    take: ({ askedAt, revocations }) => {
      for (const row of revocations) revoked.add(row.tenant_slug, row.principal, row.min_epoch)
      knownUntil = askedAt
      revoked.deleteOld()
    },
  })

  async function fresh(): Promise<void> {
    if (!closed) {
      poller.start()
      listener ??= deps.database.listen(revocationsChannel, poller.wake)
    }
    await poller.fresh()
  }

  const revokeAll: Revocations['revokeAll'] = async (tx, principals, minEpoch) => {
    await writeRevocations(tx, principals, minEpoch)
    tx.afterCommit(() => {
      for (const principal of principals) revoked.add(tx.tenantId, principal, minEpoch)
    })
  }

  return {
    isRevoked(tenantSlug, principal, epoch) {
      if (poller.isFresh()) return epoch < revoked.minEpoch(tenantSlug, principal)
      return fresh().then(() => epoch < revoked.minEpoch(tenantSlug, principal))
    },
    revoke: (tx, principal, minEpoch) => revokeAll(tx, [principal], minEpoch),
    revokeAll,
    async deleteOld(tx) {
      const deleted = await deleteOldRevocations(tx, { olderThanSeconds: rememberedSeconds, limit: deletedAtOnce })
      return deleted === deletedAtOnce
    },
    async close() {
      closed = true
      listener?.close()
      await poller.close()
    },
  }
}

/** @param keepMs milliseconds to keep an entry: the longest life of a token */
export function createRevokedEpochs(keepMs: number, now: () => number): RevokedEpochs {
  const tenants = new Map<string, Map<string, Revoked>>()
  let sweptAtMs = now()
  return {
    add(tenantSlug, principal, minEpoch) {
      const principals = tenants.get(tenantSlug) ?? new Map<string, Revoked>()
      tenants.set(tenantSlug, principals)
      const known = principals.get(principal)
      // Polls of the next minutes read the same row again, which must not prolong its time here.
      if (known && known.minEpoch >= minEpoch) return
      principals.set(principal, { minEpoch, knownAtMs: now() })
    },
    minEpoch: (tenantSlug, principal) => tenants.get(tenantSlug)?.get(principal)?.minEpoch ?? 0,
    deleteOld() {
      if (now() - sweptAtMs < keepMs / 10) return
      sweptAtMs = now()
      for (const [slug, principals] of tenants) {
        for (const [principal, { knownAtMs }] of principals) {
          if (sweptAtMs - knownAtMs > keepMs) principals.delete(principal)
        }
        if (principals.size === 0) tenants.delete(slug)
      }
    },
  }
}
