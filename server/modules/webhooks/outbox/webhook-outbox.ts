import { setTimeout as delay } from 'node:timers/promises'
import { wantsKind } from '../../../../contract/webhook-events.ts'
import type { Database, DatabaseLog, Listener } from '../../../db/database.ts'
import type { RecordClock } from '../../../records/record-clock.ts'
import type { WebhookSignal } from '../delivery-types.ts'
import type { OutgoingMessage, WebhookOutbox } from '../webhooks-types.ts'
import { type QueuedMessage, truncateData, writeMessages } from './outbox-message.ts'
import { insertOutbox, insertOutboxRow, notifyWebhooks, wantedNames, webhooksChannel } from './outbox-store.ts'

/** Limits that keep a row small enough to relay at once. */
const perRow = { messages: 500, bytes: 256 * 1024 }

export interface OwnOutbox extends WebhookOutbox {
  /**
   * Makes processes read the tenant's messages again before sending them. Otherwise like {@link WebhookOutbox.queued}.
   */
  erased(tenantId: string): void
  /** Sends the remaining notifications. Call it before the database closes. */
  settled(): Promise<void>
}

/** Creates the outbox. Its ids come from the clock of records: within a process, later rows have greater ids. */
export function createWebhookOutbox(deps: {
  database: Pick<Database, 'withRegistry'>
  clock: RecordClock
  /** Wakes the worker of this process. */
  wake: (tenantId: string, word?: WebhookSignal) => void
  log: Pick<DatabaseLog, 'warn'>
}): OwnOutbox {
  const { clock } = deps
  const notifier = createOutboxNotifier(deps)

  function queuedOf(message: OutgoingMessage): { message: QueuedMessage; bytes: number } {
    const { data, bytes } = truncateData(message.data)
    return { message: { ...message, data, messageId: clock.next().recordId }, bytes }
  }

  return {
    async wanted(tx) {
      const names = await wantedNames(tx)
      return (kind) => wantsKind(names, kind)
    },
    async add(tx, messages) {
      if (messages.length === 0) return
      let row: QueuedMessage[] = []
      let rowBytes = 0
      const endRow = async () => {
        await insertOutbox(tx, clock.next().recordId, writeMessages(row))
        row = []
        rowBytes = 0
      }
      for (const each of messages) {
        const { message, bytes } = queuedOf(each)
        if (row.length === perRow.messages || (row.length > 0 && rowBytes + bytes > perRow.bytes)) await endRow()
        row.push(message)
        rowBytes += bytes
      }
      await endRow()
      tx.afterCommit(() => notifier.queued(tx.tenantId))
    },
    step(tenantId, messages) {
      return {
        statement: insertOutboxRow,
        values: [tenantId, clock.next().recordId, writeMessages(messages.map((each) => queuedOf(each).message))],
      }
    },
    queued: (tenantId) => notifier.queued(tenantId),
    erased: (tenantId) => notifier.erased(tenantId),
    settled: () => notifier.close(),
  }
}

/** Milliseconds between two notifications of one process: each is a commit. */
const gatherMs = 50
/** Marks the slug of a notification about an erasure; no slug begins with it. */
const erasedMark = '-'

/** Notifies the delivering processes. Nobody waits for it, and it never throws. Call it outside of transactions. */
export interface OutboxNotifier {
  /** Announces waiting messages. */
  queued(tenantId: string): void
  /** Announces that messages were erased which a process may have read. */
  erased(tenantId: string): void
  /** Sends the remaining notifications. */
  close(): Promise<void>
}

/**
 * Creates the notifier. It uses notifications of the database in transactions of their own: a transaction that notifies
 * locks the whole database at its commit, so transactions that ingest would commit one after the other. Best effort:
 * polling finds missed messages within seconds.
 */
export function createOutboxNotifier(deps: {
  database: Pick<Database, 'withRegistry'>
  /** Wakes the worker of this process. */
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
          log.warn({ err: error }, 'other processes find waiting messages later, in their next round')
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

/** Listens for tenants with waiting messages, or with erased ones. */
export function listenForOutbox(
  database: Pick<Database, 'listen'>,
  heard: (tenantId: string, word?: WebhookSignal) => void,
): Listener {
  // The payload is empty when listening starts. Polling finds messages that were queued before.
  return database.listen(webhooksChannel, (payload = '') => {
    for (const word of payload.split(' ')) {
      if (word.startsWith(erasedMark)) heard(word.slice(erasedMark.length), 'erased')
      else if (word !== '') heard(word)
    }
  })
}
