import { serviceTokenSeconds } from '../../../../contract/limits.ts'
import type { Database, DatabaseLog, Listener } from '../../../db/database.ts'
import { createSnapshotPoller } from '../../../db/snapshot-poller.ts'
import type { Revocations } from '../auth-types.ts'
import { deleteOldRevocations, revocationsChannel, revocationsSince, writeRevocations } from './revocations-store.ts'
import { createRevokedEpochs } from './revoked-epochs.ts'

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
      revoked.forgetOld()
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
    async forgetOld(tx) {
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
