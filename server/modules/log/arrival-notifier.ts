import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Listener } from '../../db/database.ts'
import { arrivalsChannel, notifyArrivals } from './log-store.ts'

/** Between two notifications of one process: each is a commit. */
const gatherMs = 100

/** Tells the processes that take seals into the logs of what this one has stored. */
export interface ArrivalNotifier {
  /** Soon, and at once where nothing was told just now. Not inside a transaction. */
  tell(tenantId: string): void
  /** What waits is told. */
  close(): Promise<void>
}

/**
 * Through notifications of the database, in transactions of their own: inside those that store seals, all of which
 * would commit one after the other. A hint and no more: what is not told of is found a few seconds later.
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
  // Without a word when listening begins: what was missed until then is looked for anyway.
  return database.listen(arrivalsChannel, (payload = '') => {
    for (const tenantId of payload.split(' ')) if (tenantId !== '') heard(tenantId)
  })
}
