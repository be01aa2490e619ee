import { webhookDeliveryDays } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { isJsonObject, type JsonValue } from '../../../../provenance/json.ts'
import { alertsLockClass } from '../../../db/advisory-locks.ts'
import type { TenantTx } from '../../../db/database.ts'
import { lockTenant } from '../../../db/tenant-lock.ts'
import { usersWithoutRecords } from '../../../db/users-without-records.ts'
import type { TenantChore } from '../../../jobs/housekeeping.ts'
import type { RecordClock } from '../../../records/record-clock.ts'
import type { ErasedRecord } from '../../erasure/erasure-types.ts'
import { removeAlertsAbout } from '../alerts/alerts-store.ts'
import { deleteOutboxRows, lockWebhooks, updateOutboxRow } from '../outbox/outbox-store.ts'
import { type QueuedMessage, readMessages, writeMessages } from '../outbox/webhook-outbox.ts'
import {
  type DeliveriesAbout,
  deleteDeliveriesBefore,
  deleteRemovedBefore,
  destroyDeliveriesAfter,
  eraseDeliveries,
  outboxAfter,
  outboxNaming,
} from './delivery-erasure-store.ts'

/**
 * Erases the contents of deliveries about erased records. A delivery remains, with only its existence and outcome.
 * Undelivered messages are not sent any more, even if a process has already read them. Once no record of a user
 * remains, the same applies to messages that name the user.
 */
export async function eraseDeliveriesAbout(tx: TenantTx, records: readonly ErasedRecord[]): Promise<void> {
  const recordIds = records.map((record) => record.record_id)
  const users = [...new Set(records.flatMap(usersOf))]
  const gone = users.length === 0 ? [] : await usersWithoutRecords(tx, users, recordIds)
  // The relay makes deliveries of outbox rows under the same lock, so each message is found as one or the other.
  await lockWebhooks(tx)
  const about = { recordIds, userIds: gone }
  await eraseWaiting(tx, about)
  await eraseDeliveries(tx, about)
}

async function eraseWaiting(tx: TenantTx, about: DeliveriesAbout): Promise<void> {
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

const outboxRowsAtOnce = 20
const deliveriesAtOnce = 5_000

/**
 * Erases the contents of a Mode B tenant's messages about its records, in the transaction that destroys its key.
 * Messages about client records are dropped, and their deliveries remain as after an erasure. Messages of the service
 * itself are under no key and are still sent.
 */
export async function eraseOwnKeyMessages(tx: TenantTx): Promise<void> {
  await eraseClientMessages(tx)
  let last: string | undefined
  do last = await destroyDeliveriesAfter(tx, last, deliveriesAtOnce)
  while (last !== undefined)
}

async function eraseClientMessages(tx: TenantTx): Promise<void> {
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

const dayMs = 86_400_000
const deletedAtOnce = 1_000

/**
 * Returns the hourly work: deletes deliveries of a certain age, regardless of their status, and the rows of removed
 * endpoints. Until then, repeating a removal returns the first response.
 */
export function webhookChores(clock: RecordClock): readonly TenantChore[] {
  const beforeMs = () => Math.floor(clock.next().micros / 1000) - webhookDeliveryDays * dayMs
  return [
    {
      name: 'delete old webhook deliveries',
      run: async (tx) => (await deleteDeliveriesBefore(tx, beforeMs(), deletedAtOnce)) === deletedAtOnce,
    },
    {
      name: 'delete removed webhooks',
      run: async (tx) => (await deleteRemovedBefore(tx, formatTimestamp(beforeMs()), deletedAtOnce)) === deletedAtOnce,
    },
  ]
}

/**
 * Deletes open alerts about a person once no record of them remains. No message reports the end, because it would name
 * the person.
 */
export async function eraseAlerts(tx: TenantTx, records: readonly ErasedRecord[]): Promise<void> {
  const users = [...new Set(records.flatMap(({ user_id }) => user_id ?? []))]
  if (users.length === 0) return
  // Waits for running changes of alerts; later ones check which people remain.
  await lockTenant(tx, alertsLockClass)
  // A change of rules takes this lock before that of alerts. The other order would deadlock.
  await lockWebhooks(tx)
  const recordIds = records.map((record) => record.record_id)
  await removeAlertsAbout(tx, await usersWithoutRecords(tx, users, recordIds))
}
