import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Listener } from '../../db/database.ts'
import { arrivalsChannel, notifyArrivals } from './log-store.ts'

/** Milliseconds between two notifications of one process. Each is a commit. */
const gatherMs = 100

/** Notifies the processes that integrate seals into the logs of seals stored by this process. */
export interface ArrivalNotifier {
  /**
   * Queues a notification. Sends it at once unless another was sent just before. Must not be called inside a
   * transaction.
   */
  tell(tenantId: string): void
  /** Sends the queued notifications. */
  close(): Promise<void>
}

/**
 * Creates the notifier. Sends notifications of the database in transactions of their own, because notifications would
 * serialize the commits of transactions that store seals. Best effort: polling finds missed arrivals within seconds.
 */
export function createArrivalNotifier(database: Pick<Database, 'withRegistry'>): ArrivalNotifier {
  const waiting = new Set<string>()
  const closing = new AbortController()
  let telling: Promise<void> | undefined

  async function tellAll(): Promise<void> {
    while (waiting.size > 0) {
      const tenantIds = [...waiting]
      waiting.clear()
      await database.withRegistry((tx) => notifyArrivals(tx, tenantIds)).catch(() => {})
      await delay(gatherMs, undefined, { signal: closing.signal, ref: false }).catch(() => {})
    }
    telling = undefined
  }

  return {
    tell(tenantId) {
      waiting.add(tenantId)
      telling ??= tellAll()
    },
    async close() {
      closing.abort()
      await telling
    },
  }
}

export function listenForArrivals(database: Pick<Database, 'listen'>, heard: (tenantId: string) => void): Listener {
  // No initial event when listening begins: polling finds earlier arrivals.
  return database.listen(arrivalsChannel, (payload = '') => {
    for (const tenantId of payload.split(' ')) if (tenantId !== '') heard(tenantId)
  })
}
