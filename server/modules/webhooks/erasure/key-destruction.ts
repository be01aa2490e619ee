import type { TenantTx } from '../../../db/database.ts'
import { type QueuedMessage, readMessages, writeMessages } from '../outbox/outbox-message.ts'
import { deleteOutboxRows, updateOutboxRow } from '../outbox/outbox-store.ts'
import { lockWebhooks } from '../webhook-lock-store.ts'
import { destroyDeliveriesAfter, outboxAfter } from './delivery-erasure-store.ts'

const outboxRowsAtOnce = 20
const deliveriesAtOnce = 5_000

/** Erases the contents of a Mode B tenant's messages about its records, together with its key. */
export interface WebhookKeyDestruction {
  /** Takes the lock of webhooks. Call it before locking the keys: a new secret is encrypted under this key. */
  lock(tx: TenantTx): Promise<void>
  /**
   * Erases contents in the transaction that destroys the key. Messages about client records are dropped, and their
   * deliveries remain as after an erasure. Messages of the service itself are under no key and are still sent.
   */
  forget(tx: TenantTx): Promise<void>
}

/**
 * Creates the participant of key destruction.
 *
 * @param changed called after the commit, so that delivering processes read again
 */
export function createWebhookKeyDestruction(deps: { changed: (tenantId: string) => void }): WebhookKeyDestruction {
  return {
    lock: lockWebhooks,
    async forget(tx) {
      await forgetWaiting(tx)
      let last: string | undefined
      do last = await destroyDeliveriesAfter(tx, last, deliveriesAtOnce)
      while (last !== undefined)
      tx.afterCommit(() => deps.changed(tx.tenantId))
    },
  }
}

async function forgetWaiting(tx: TenantTx): Promise<void> {
  let rows = await outboxAfter(tx, undefined, outboxRowsAtOnce)
  while (rows.length > 0) {
    for (const { outboxId, messages } of rows) {
      const before = readable(messages)
      const after = before.filter((message) => !isOfClient(message))
      if (after.length === 0) await deleteOutboxRows(tx, [outboxId])
      else if (after.length < before.length) await updateOutboxRow(tx, outboxId, writeMessages(after))
    }
    rows = await outboxAfter(tx, rows.at(-1)!.outboxId, outboxRowsAtOnce)
  }
}

function isOfClient({ kind, recordId }: QueuedMessage): boolean {
  return recordId !== undefined && (kind.startsWith('skill.') || kind.startsWith('governance.custom.'))
}

/**
 * Parses the messages of a row; returns none for a row of another version of the Hub. Its content is unknown here, so
 * it is dropped.
 */
function readable(messages: string): QueuedMessage[] {
  try {
    return readMessages(messages)
  } catch {
    return []
  }
}
