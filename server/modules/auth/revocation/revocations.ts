import { setTimeout as delay } from 'node:timers/promises'
import { serviceTokenSeconds } from '../../../../contract/limits.ts'
import type { Database, DatabaseLog, Listener } from '../../../db/database.ts'
import { unavailable } from '../../../db/database-errors.ts'
import type { Revocations } from '../auth-types.ts'
import { deleteOldRevocations, revocationsChannel, revocationsSince, writeRevocation } from './revocations-store.ts'
import { createRevokedEpochs } from './revoked-epochs.ts'

/** Longer than any access token lives, by the clock of any process. */
const rememberedSeconds = serviceTokenSeconds + 600
const lookEveryMs = 2_000
/** What was looked at before that is too old to answer from: the promise is five seconds. */
const freshMs = 4_000
/** How long a request waits for the look that it needs. */
const waitMsMax = 2_000
/** A look that takes longer may never end: another one is begun. */
const lookMsMax = 10_000
/** However often notifications come. */
const looksApartMs = 50
const deletedAtOnce = 1_000

/**
 * The revocations of all tenants. It rests until the first question, so that commands, which ask none, pay nothing.
 * From then on every look reads what is new, two seconds apart or as soon as a notification comes.
 *
 * @param now a clock in milliseconds that never steps back
 */
export async function openRevocations(deps: {
  database: Database
  log: DatabaseLog
  now?: () => number
}): Promise<Revocations> {
  const { database, log, now = () => performance.now() } = deps
  const revoked = createRevokedEpochs(rememberedSeconds * 1000, now)
  /** When the last look that succeeded asked the database. */
  let lookedAt = Number.NEGATIVE_INFINITY
  /** The same moment by the clock of the database, which goes on while this machine sleeps. */
  let since: string | undefined
  let current: { begunAt: number; done: Promise<void> } | undefined
  let wakeTimer: NodeJS.Timeout | undefined
  let lookTimer: NodeJS.Timeout | undefined
  let listener: Listener | undefined
  let closed = false

  const isFresh = () => now() - lookedAt <= freshMs

  async function look(): Promise<void> {
    const { askedAtMs, found } = await database.withRegistry(async (tx) => ({
      askedAtMs: now(),
      found: await revocationsSince(tx, since),
    }))
    for (const row of found.revocations) revoked.add(row.tenant_slug, row.principal, row.min_epoch)
    if (askedAtMs > lookedAt) {
      lookedAt = askedAtMs
      since = found.askedAt
    }
    revoked.forgetOld()
  }

  /** One at a time, shared by all who wait. */
  function lookOnce(): Promise<void> {
    if (current && now() - current.begunAt < lookMsMax) return current.done
    const begun = { begunAt: now(), done: look() }
    current = begun
    const end = () => {
      if (current === begun) current = undefined
    }
    begun.done.then(end, end)
    return begun.done
  }

  function lookBeside(): void {
    lookOnce().catch((error: unknown) => log.warn({ err: error }, 'revoked tokens could not be read anew'))
  }

  /** After the look that is under way, which may have asked too early. */
  function wake(): void {
    if (closed || wakeTimer) return
    wakeTimer = setTimeout(() => {
      const running = current?.done ?? Promise.resolve()
      running
        .catch(() => {})
        .then(() => {
          wakeTimer = undefined
          if (!closed) lookBeside()
        })
    }, looksApartMs).unref()
  }

  function start(): void {
    if (lookTimer || closed) return
    lookTimer = setInterval(lookBeside, lookEveryMs).unref()
    listener = database.listen(revocationsChannel, wake)
  }

  async function lookNow(): Promise<void> {
    start()
    const giveUp = new AbortController()
    const tooLate = delay(waitMsMax, undefined, { signal: giveUp.signal }).then(() => {
      throw unavailable(new Error('revoked tokens could not be read in time'))
    })
    tooLate.catch(() => {})
    try {
      // The one that was under way may have asked long ago.
      while (!isFresh()) await Promise.race([lookOnce(), tooLate])
    } finally {
      giveUp.abort()
    }
  }

  return {
    isRevoked(tenantSlug, principal, epoch) {
      if (isFresh()) return epoch < revoked.minEpoch(tenantSlug, principal)
      return lookNow().then(() => epoch < revoked.minEpoch(tenantSlug, principal))
    },
    async revoke(tx, principal, minEpoch) {
      await writeRevocation(tx, principal, minEpoch)
      tx.afterCommit(() => revoked.add(tx.tenantId, principal, minEpoch))
    },
    async forgetOld(tx) {
      const deleted = await deleteOldRevocations(tx, { olderThanSeconds: rememberedSeconds, limit: deletedAtOnce })
      return deleted === deletedAtOnce
    },
    async close() {
      closed = true
      clearInterval(lookTimer)
      clearTimeout(wakeTimer)
      listener?.close()
      await current?.done.catch(() => {})
    },
  }
}
