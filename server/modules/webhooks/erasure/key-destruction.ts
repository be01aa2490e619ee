import type { TenantTx } from '../../../db/database.ts'
import { type QueuedMessage, readMessages, writeMessages } from '../outbox/outbox-message.ts'
import { deleteOutboxRows, updateOutboxRow } from '../outbox/outbox-store.ts'
import { lockWebhooks } from '../webhook-lock-store.ts'
import { destroyDeliveriesAfter, outboxAfter } from './delivery-erasure-store.ts'

const outboxRowsAtOnce = 20
const deliveriesAtOnce = 5_000

/** What messages of a tenant in Mode B tell of its records is forgotten with its key. */
export interface WebhookKeyDestruction {
  /** Before the locks of its keys are taken: a new secret is sealed under this one. */
  lock(tx: TenantTx): Promise<void>
  /**
   * In the transaction that destroys the key. Messages about what clients wrote are told no more, their deliveries stay
   * as they do after an erasure; what the service wrote itself is under no key, and is told on.
   */
  forget(tx: TenantTx): Promise<void>
}

/** @param changed told after the commit, so that processes that deliver look again */
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

/** None of what another version of the Hub wrote: nobody here can tell what it says, so it goes. */
function readable(messages: string): QueuedMessage[] {
  try {
    return readMessages(messages)
  } catch {
    return []
  }
}
