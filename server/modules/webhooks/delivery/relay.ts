import { webhooksLockClass } from '../../../db/advisory-locks.ts'
import type { Database, DatabaseLog, TenantTx } from '../../../db/database.ts'
import { lockTenant } from '../../../db/tenant-lock.ts'
import type { RecordClock } from '../../hub/record-clock-types.ts'
import { audienceOf } from '../outbox/audience.ts'
import { type QueuedMessage, readMessages } from '../outbox/outbox-message.ts'
import type { Endpoint, Endpoints } from '../webhooks-types.ts'
import * as store from './relay-store.ts'

/** Of one transaction. A row of a large ingest call may have more by itself. */
const most = { rows: 1_000, bytes: 2 * 1024 * 1024 }

/** Turns what transactions have left in the outbox into deliveries. */
export interface Relay {
  /** The oldest part of it. Answers whether there may be more. */
  run(tenantId: string): Promise<boolean>
}

/**
 * In the order in which it was left, so far as transactions that ran at the same time have one. Each message becomes
 * deliveries in the transaction that takes it from the outbox: once, and none is lost. Of several processes one relays
 * at a time, and finds what the others left.
 */
export function createRelay(deps: {
  database: Database
  endpoints: Pick<Endpoints, 'all'>
  /** Of the ids of deliveries. */
  clock: Pick<RecordClock, 'next'>
  log: Pick<DatabaseLog, 'error'>
}): Relay {
  const { database, endpoints, clock, log } = deps
  /** Rows that this process cannot read; a newer one may. */
  const unread = new Set<string>()

  function messagesOf(tx: TenantTx, row: store.OutboxRow): QueuedMessage[] | undefined {
    try {
      return readMessages(row.messages)
    } catch (error) {
      log.error({ err: error, tenant: tx.tenantId, outboxId: row.outbox_id }, 'messages that wait cannot be read')
      unread.add(row.outbox_id)
      return undefined
    }
  }

  return {
    async run(tenantId) {
      if (!(await database.withTenant(tenantId, store.hasOutboxRows, { readOnly: true }))) return false
      return database.withTenant(tenantId, async (tx) => {
        await lockTenant(tx, webhooksLockClass)
        const rows = await store.oldestOutboxRows(tx, most, [...unread])
        const read = rows.flatMap((row) => {
          const messages = messagesOf(tx, row)
          return messages ? [{ row, messages }] : []
        })
        if (read.length === 0) return rows.length > 0
        const all = await endpoints.all(tx)
        const messages = read.flatMap((each) => each.messages)
        await addDeliveries(tx, clock, messages, all)
        await store.deleteOutboxRows(
          tx,
          read.map(({ row }) => row.outbox_id),
        )
        const bytes = rows.reduce((sum, { messages: text }) => sum + text.length, 0)
        return rows.length === most.rows || bytes >= most.bytes
      })
    },
  }
}

async function addDeliveries(
  tx: TenantTx,
  clock: Pick<RecordClock, 'next'>,
  messages: readonly QueuedMessage[],
  all: readonly Endpoint[],
): Promise<void> {
  const made: store.NewDelivery[] = []
  const counts = new Map<string, number>()
  const audience = audienceOf(all)
  for (const message of messages) {
    const told = audience(message)
    if (told.length === 0) continue
    const data = JSON.stringify(message.data)
    for (const { webhookId } of told) {
      const count = (counts.get(webhookId) ?? 0) + 1
      counts.set(webhookId, count)
      made.push({
        delivery_id: clock.next().recordId,
        webhook_id: webhookId,
        sequence: count,
        message_id: message.messageId,
        kind: message.kind,
        occurred_at: message.occurredAt,
        data,
        record_id: message.recordId,
        user_id: message.userId,
      })
    }
  }
  if (made.length === 0) return
  const last = await store.takeSequences(tx, counts)
  for (const delivery of made) {
    const { webhook_id } = delivery
    delivery.sequence += (last.get(webhook_id) ?? 0) - (counts.get(webhook_id) ?? 0)
  }
  await store.insertDeliveries(tx, made)
}
