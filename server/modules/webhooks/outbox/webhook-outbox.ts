import { webhookDataBytesMax } from '../../../../contract/limits.ts'
import { wantsKind } from '../../../../contract/webhook-events.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../provenance/json.ts'
import type { Database, DatabaseLog, Listener, TenantTx } from '../../../db/database.ts'
import type { IngestStep } from '../../../db/ingest-script.ts'
import { listenForTenants, TenantNotifier } from '../../../db/tenant-notifier.ts'
import type { RecordClock } from '../../../records/record-clock.ts'
import type { OutgoingMessage, WebhookOutbox, WebhookSignal } from '../webhooks-types.ts'
import { insertOutbox, insertOutboxRow, wantedNames } from './outbox-store.ts'

/** Limits that keep a row small enough to relay at once. */
const perRow = { messages: 500, bytes: 256 * 1024 }

/**
 * Stores messages in `hub.webhook_outbox`. Ids come from the clock of records: within a process, later rows have greater
 * ids.
 */
export class StoredOutbox implements WebhookOutbox {
  readonly #clock: Pick<RecordClock, 'next'>
  readonly #wake: (tenantId: string, word?: WebhookSignal) => void
  readonly #notifier: TenantNotifier

  /** @param deps.wake wakes the worker of this process */
  constructor(deps: {
    database: Pick<Database, 'withRegistry'>
    clock: Pick<RecordClock, 'next'>
    wake: (tenantId: string, word?: WebhookSignal) => void
    log: Pick<DatabaseLog, 'warn'>
  }) {
    this.#clock = deps.clock
    this.#wake = deps.wake
    this.#notifier = new TenantNotifier({
      ...{ database: deps.database, channel: webhooksChannel, pauseMs: 50 },
      failed: (error) =>
        deps.log.warn({ err: error }, 'other processes find waiting messages later, in their next round'),
    })
  }

  async wanted(tx: TenantTx): Promise<(kind: string) => boolean> {
    const names = await wantedNames(tx)
    return (kind) => wantsKind(names, kind)
  }

  async add(tx: TenantTx, messages: readonly OutgoingMessage[]): Promise<void> {
    if (messages.length === 0) return
    let row: QueuedMessage[] = []
    let rowBytes = 0
    const endRow = async () => {
      await insertOutbox(tx, this.#clock.next().recordId, writeMessages(row))
      row = []
      rowBytes = 0
    }
    for (const each of messages) {
      const { message, bytes } = this.#queuedOf(each)
      if (row.length === perRow.messages || (row.length > 0 && rowBytes + bytes > perRow.bytes)) await endRow()
      row.push(message)
      rowBytes += bytes
    }
    await endRow()
    tx.afterCommit(() => this.queued(tx.tenantId))
  }

  step(tenantId: string, messages: readonly OutgoingMessage[]): IngestStep {
    const text = writeMessages(messages.map((each) => this.#queuedOf(each).message))
    return { statement: insertOutboxRow, values: [tenantId, this.#clock.next().recordId, text] }
  }

  queued(tenantId: string): void {
    this.#wake(tenantId)
    this.#notifier.notify(tenantId)
  }

  /** Makes processes read the tenant's messages again before sending them. Otherwise like {@link queued}. */
  erased(tenantId: string): void {
    this.#wake(tenantId, 'erased')
    this.#notifier.notify(erasedMark + tenantId)
  }

  /** Sends the remaining notifications. Call it before the database closes. */
  settled(): Promise<void> {
    return this.#notifier.settled()
  }

  #queuedOf(message: OutgoingMessage): { message: QueuedMessage; bytes: number } {
    const { data, bytes } = truncateData(message.data)
    return { message: { ...message, data, messageId: this.#clock.next().recordId }, bytes }
  }
}

/** The channel that wakes the delivering processes. */
const webhooksChannel = 'hub_webhooks'
/** Marks the slug of a notification about an erasure; no slug begins with it. */
const erasedMark = '-'

/** Listens for tenants with waiting messages, or with erased ones. */
export function listenForOutbox(
  database: Pick<Database, 'listen'>,
  subscribed: (tenantId: string, word?: WebhookSignal) => void,
): Listener {
  return listenForTenants(database, webhooksChannel, (word) => {
    if (word.startsWith(erasedMark)) subscribed(word.slice(erasedMark.length), 'erased')
    else subscribed(word)
  })
}

/** A message of an outbox row. */
export interface QueuedMessage extends OutgoingMessage {
  /** A UUIDv7; the `id` of the body at every endpoint. */
  messageId: string
}

/** The version of the text below. A process that does not know it leaves the row to one that does. */
const version = 1

/**
 * Serialises `hub.webhook_outbox.messages`: `{"v":1,"messages":[{id, kind, occurred_at, data, record_id?, user_id?,
 * webhook_ids?}]}`. Only this file writes and reads it.
 */
export function writeMessages(messages: readonly QueuedMessage[]): string {
  return JSON.stringify({ v: version, messages: messages.map(memberOf) })
}

function memberOf({ messageId, kind, occurredAt, data, recordId, userId, webhookIds }: QueuedMessage): JsonObject {
  return {
    id: messageId,
    kind,
    occurred_at: occurredAt,
    data,
    ...(recordId !== undefined && { record_id: recordId }),
    ...(userId !== undefined && { user_id: userId }),
    ...(webhookIds !== undefined && { webhook_ids: webhookIds }),
  }
}

/**
 * Parses the text of {@link writeMessages}.
 *
 * @throws Error for any other text or version. Its message repeats nothing of the text.
 */
export function readMessages(text: string): QueuedMessage[] {
  const row: unknown = parse(text)
  if (!isJsonObject(row)) throw new Error('an outbox row is not a JSON object')
  const { v, messages, ...rest } = row
  if (v !== version) throw new Error(`an outbox row has a version other than ${version}`)
  if (!Array.isArray(messages) || Object.keys(rest).length > 0) throw new Error('an outbox row has other members')
  return (messages as JsonValue[]).map(messageOf)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('an outbox row is not JSON')
  }
}

function messageOf(value: JsonValue, place: number): QueuedMessage {
  const wrong = (member: string) => new Error(`message ${place} of an outbox row has no valid ${member}`)
  if (!isJsonObject(value)) throw wrong('members')
  const { id, kind, occurred_at, data, record_id, user_id, webhook_ids, ...rest } = value
  if (typeof id !== 'string') throw wrong('id')
  if (typeof kind !== 'string') throw wrong('kind')
  if (typeof occurred_at !== 'string') throw wrong('occurred_at')
  if (!isJsonObject(data)) throw wrong('data')
  if (record_id !== undefined && typeof record_id !== 'string') throw wrong('record_id')
  if (user_id !== undefined && typeof user_id !== 'string') throw wrong('user_id')
  if (webhook_ids !== undefined && !isTexts(webhook_ids)) throw wrong('webhook_ids')
  if (Object.keys(rest).length > 0) throw wrong('members')
  return {
    messageId: id,
    kind,
    occurredAt: occurred_at,
    data,
    ...(record_id !== undefined && { recordId: record_id }),
    ...(user_id !== undefined && { userId: user_id }),
    ...(webhook_ids !== undefined && { webhookIds: webhook_ids }),
  }
}

function isTexts(value: JsonValue): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

/**
 * Truncates the data of a message: every endpoint gets a copy, and a client may write a megabyte into one event. Above
 * `webhookDataBytesMax` as JSON, the largest members are dropped until the rest fits, and `truncated` is true.
 */
export function truncateData(data: JsonObject): { data: JsonObject; bytes: number } {
  const bytes = sizeOf(data)
  if (bytes <= webhookDataBytesMax) return { data, bytes }
  const sizes = Object.entries(data).map(([name, value]) => ({ name, size: sizeOf({ [name]: value }) }))
  const largestFirst = sizes.toSorted((a, b) => b.size - a.size)
  const leftOut = new Set<string>()
  let left = bytes + sizeOf({ truncated: true }) - 1
  for (const { name, size } of largestFirst) {
    if (left <= webhookDataBytesMax) break
    leftOut.add(name)
    left -= size - 1
  }
  const kept = Object.entries(data).filter(([name]) => !leftOut.has(name))
  return { data: { ...Object.fromEntries(kept), truncated: true }, bytes: left }
}

function sizeOf(value: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(value))
}
