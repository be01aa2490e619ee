import { setTimeout as delay } from 'node:timers/promises'
import type { Database, DatabaseLog, Listener } from '../../../db/database.ts'
import type { WebhookSignal } from '../delivery-types.ts'
import { notifyWebhooks, webhooksChannel } from './outbox-store.ts'

/** Between two notifications of one process: each is a commit. */
const gatherMs = 50
/** Before the slug in a notification, which none begins with. */
const erasedMark = '-'

/** Gets word to the processes that deliver. Nobody waits for it, and it never throws. Not inside a transaction. */
export interface OutboxNotifier {
  /** Messages wait. */
  queued(tenantId: string): void
  /** Some that may have been read already were erased. */
  erased(tenantId: string): void
  /** What waits is told. */
  close(): Promise<void>
}

/**
 * Through notifications of the database, in transactions of their own: a transaction that notifies takes a lock of the
 * whole database as it commits, and those that ingest would commit one after the other. A hint and no more: what is not
 * told of is found a few seconds later.
 */
export function createOutboxNotifier(deps: {
  database: Pick<Database, 'withRegistry'>
  /** The worker of this process. */
  wake: (tenantId: string, word?: WebhookSignal) => void
  log: Pick<DatabaseLog, 'warn'>
}): OutboxNotifier {
  const { database, wake, log } = deps
  const waiting = new Set<string>()
  const closing = new AbortController()
  let telling: Promise<void> | undefined

  async function tellAll(): Promise<void> {
    while (waiting.size > 0) {
      const words = [...waiting]
      waiting.clear()
      await database
        .withRegistry((tx) => notifyWebhooks(tx, words))
        .catch((error: unknown) => {
          log.warn({ err: error }, 'other processes find messages that wait later, with their next turn')
        })
      await delay(gatherMs, undefined, { signal: closing.signal, ref: false }).catch(() => {})
    }
    telling = undefined
  }

  return {
    queued(tenantId) {
      wake(tenantId)
      waiting.add(tenantId)
      telling ??= tellAll()
    },
    erased(tenantId) {
      wake(tenantId, 'erased')
      waiting.add(erasedMark + tenantId)
      telling ??= tellAll()
    },
    async close() {
      closing.abort()
      await telling
    },
  }
}

/** Tells of tenants for which messages may wait, or of which some were erased. */
export function listenForOutbox(
  database: Pick<Database, 'listen'>,
  heard: (tenantId: string, word?: WebhookSignal) => void,
): Listener {
  // Without a word when listening begins: what was missed until then is looked for anyway.
  return database.listen(webhooksChannel, (payload = '') => {
    for (const word of payload.split(' ')) {
      if (word.startsWith(erasedMark)) heard(word.slice(erasedMark.length), 'erased')
      else if (word !== '') heard(word)
    }
  })
}
