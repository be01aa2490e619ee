import { wantsKind } from '../../../../contract/webhook-events.ts'
import type { Database, DatabaseLog } from '../../../db/database.ts'
import type { RecordClock } from '../../../records/record-clock.ts'
import type { WebhookSignal } from '../delivery-types.ts'
import type { OutgoingMessage, WebhookOutbox } from '../webhooks-types.ts'
import { truncateData } from './message-data.ts'
import { type QueuedMessage, writeMessages } from './outbox-message.ts'
import { createOutboxNotifier } from './outbox-notifier.ts'
import { insertOutbox, insertOutboxRow, wantedNames } from './outbox-store.ts'

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
