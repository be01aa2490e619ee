import { isJsonObject, type JsonValue } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import { usersWithoutRecords } from '../../../db/users-without-records.ts'
import type { ErasedRecord, ErasureParticipant } from '../../erasure/erasure-types.ts'
import { type QueuedMessage, readMessages, writeMessages } from '../outbox/outbox-message.ts'
import { deleteOutboxRows, updateOutboxRow } from '../outbox/outbox-store.ts'
import { lockWebhooks } from '../webhook-lock-store.ts'
import { type DeliveriesAbout, eraseDeliveries, outboxNaming } from './delivery-erasure-store.ts'

/**
 * Erases the contents of deliveries about erased records. A delivery remains, with only its existence and outcome.
 * Undelivered messages are not sent any more, even if a process has already read them. Once no record of a user
 * remains, the same applies to messages that name the user.
 */
export function createWebhookErasure(deps: { erased: (tenantId: string) => void }): ErasureParticipant {
  return {
    name: 'webhook deliveries',
    async forget(tx, records) {
      if (records.length === 0) return
      const recordIds = records.map((record) => record.record_id)
      const users = [...new Set(records.flatMap(usersOf))]
      const gone = users.length === 0 ? [] : await usersWithoutRecords(tx, users, recordIds)
      // The relay makes deliveries of outbox rows under the same lock, so each message is found as one or the other.
      await lockWebhooks(tx)
      const about = { recordIds, userIds: gone }
      await forgetWaiting(tx, about)
      await eraseDeliveries(tx, about)
      tx.afterCommit(() => deps.erased(tx.tenantId))
    },
  }
}

async function forgetWaiting(tx: TenantTx, about: DeliveriesAbout): Promise<void> {
  const recordIds = new Set<string | undefined>(about.recordIds)
  const userIds = new Set<string | undefined>(about.userIds)
  const isAbout = ({ recordId, userId }: QueuedMessage) => recordIds.has(recordId) || userIds.has(userId)
  for (const { outboxId, messages } of await outboxNaming(tx, about)) {
    const before = readMessages(messages)
    const after = before.filter((message) => !isAbout(message))
    if (after.length === before.length) continue
    if (after.length === 0) await deleteOutboxRows(tx, [outboxId])
    else await updateOutboxRow(tx, outboxId, writeMessages(after))
  }
}

/** Returns the user of the column, and the user of the text from which messages are made. */
function usersOf({ user_id, canonical }: ErasedRecord): string[] {
  return [user_id, userIn(canonical)].filter((user): user is string => typeof user === 'string')
}

function userIn(canonical: string): JsonValue | undefined {
  try {
    const record = JSON.parse(canonical) as JsonValue
    return isJsonObject(record) ? record.user_id : undefined
  } catch {
    return undefined
  }
}
