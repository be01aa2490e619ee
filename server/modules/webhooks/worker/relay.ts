import { DomainError } from '../../../../contract/domain-error.ts'
import type { Database, DatabaseLog, TenantTx } from '../../../db/database.ts'
import { createEventLoopYielder } from '../../../jobs/event-loop-yielder.ts'
import type { RecordClock } from '../../hub/sealing/record-clock-types.ts'
import {
  insertDeliveries,
  type NewDeliveries,
  statementsOf,
  takeSequences,
} from '../deliveries/new-deliveries-store.ts'
import { matchEndpoints } from '../outbox/endpoint-matching.ts'
import { type QueuedMessage, readMessages, writeMessages } from '../outbox/outbox-message.ts'
import { deleteOutboxRows, updateOutboxRow } from '../outbox/outbox-store.ts'
import { lockWebhooks } from '../webhook-lock-store.ts'
import type { Endpoint, Endpoints } from '../webhooks-types.ts'
import { dueForLook } from './backlog-limit.ts'
import * as store from './relay-store.ts'

/** Of one transaction: what it reads, and what it makes of that. One message at least, whatever it takes. */
const most = { rows: 1_000, bytes: 1024 * 1024, deliveries: 5_000, deliveredBytes: 16 * 1024 * 1024 }
/** A row of which nothing can be made is tried again after so long. */
const aloneMs = 5 * 60_000

/** What a turn of the relay found. */
export interface RelayTurn {
  isMore: boolean
  /** How long the oldest had waited as it began; 0 where there was none. */
  waitedMs: number
  /** Endpoints for which so much was queued that somebody has to look how much waits. */
  grown: readonly string[]
}

/** Turns what transactions have left in the outbox into deliveries. */
export interface Relay {
  /** The oldest part of it. */
  run(tenantId: string): Promise<RelayTurn>
}

/**
 * In the order in which it was left, so far as transactions that ran at the same time have one. Each message becomes
 * deliveries in the transaction that takes it from the outbox: once, and none is lost. Of several processes one relays
 * at a time, and finds what the others left. A row of which nothing can be made is logged, stays, and holds up no other.
 */
export function createRelay(deps: {
  database: Database
  endpoints: Pick<Endpoints, 'all'>
  /** Of the ids of deliveries. */
  clock: Pick<RecordClock, 'next'>
  log: Pick<DatabaseLog, 'error'>
}): Relay {
  const { database, endpoints, clock, log } = deps
  /** Rows that are left alone, and until when. Those that this process cannot read, for ever: a newer one may. */
  const leftAlone = new Map<string, number>()
  /** Tenants of whose rows one by itself makes a transaction fail: each has one of its own, until that one is found. */
  const oneByOne = new Set<string>()

  function except(): string[] {
    for (const [outboxId, untilMs] of leftAlone) if (untilMs <= performance.now()) leftAlone.delete(outboxId)
    return [...leftAlone.keys()]
  }

  function messagesOf(tx: TenantTx, row: store.OutboxRow): QueuedMessage[] | undefined {
    try {
      return readMessages(row.messages)
    } catch (error) {
      log.error({ err: error, tenant: tx.tenantId, outboxId: row.outbox_id }, 'messages that wait cannot be read')
      leftAlone.set(row.outbox_id, Number.POSITIVE_INFINITY)
      return undefined
    }
  }

  async function relaySome(tx: TenantTx, rows: readonly store.OutboxRow[]): Promise<Part> {
    const breathe = createEventLoopYielder()
    const part = new Part(await endpoints.all(tx), clock)
    const done: string[] = []
    for (const row of rows) {
      await breathe()
      const messages = messagesOf(tx, row)
      if (!messages) continue
      let taken = 0
      while (taken < messages.length && part.take(messages[taken] as QueuedMessage)) {
        taken += 1
        await breathe()
      }
      if (taken === messages.length) done.push(row.outbox_id)
      else if (taken > 0) await updateOutboxRow(tx, row.outbox_id, writeMessages(messages.slice(taken)))
      if (taken < messages.length) break
    }
    await part.insert(tx, breathe)
    if (done.length > 0) await deleteOutboxRows(tx, done)
    return part
  }

  async function runTurn(tenantId: string): Promise<Pick<RelayTurn, 'isMore' | 'grown'>> {
    const limit = oneByOne.has(tenantId) ? { ...most, rows: 1 } : most
    let rows: store.OutboxRow[] = []
    try {
      return await database.withTenant(tenantId, async (tx) => {
        await lockWebhooks(tx)
        rows = await store.oldestOutboxRows(tx, limit, except())
        if (rows.length === 0) oneByOne.delete(tenantId)
        const bytes = rows.reduce((sum, { messages }) => sum + messages.length, 0)
        const part = rows.length > 0 ? await relaySome(tx, rows) : undefined
        const isMore = part?.isFull || rows.length === limit.rows || bytes >= limit.bytes
        return { isMore, grown: part?.grown ?? [] }
      })
    } catch (error) {
      const [first, second] = rows
      // What the database refuses for a while says nothing of the rows.
      if (!first || error instanceof DomainError) throw error
      if (second) oneByOne.add(tenantId)
      else leaveAlone(tenantId, first, error)
      return { isMore: true, grown: [] }
    }
  }

  function leaveAlone(tenantId: string, { outbox_id }: store.OutboxRow, error: unknown): void {
    const details = { err: error, tenant: tenantId, outboxId: outbox_id }
    log.error(details, 'messages that wait could not be made deliveries')
    leftAlone.set(outbox_id, performance.now() + aloneMs)
    oneByOne.delete(tenantId)
  }

  return {
    async run(tenantId) {
      const oldest = await database.withTenant(tenantId, store.oldestOutboxId, { readOnly: true })
      if (oldest === undefined) return { isMore: false, waitedMs: 0, grown: [] }
      const waitedMs = Math.max(0, Date.now() - madeAtMs(oldest))
      return { ...(await runTurn(tenantId)), waitedMs }
    },
  }
}

/** Of a UUID of version 7: RFC 9562, section 5.7. */
function madeAtMs(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** The deliveries that one transaction makes. */
class Part {
  isFull = false
  /** Known once it is inserted. */
  grown: readonly string[] = []
  readonly #clock: Pick<RecordClock, 'next'>
  readonly #audience: ReturnType<typeof matchEndpoints>
  readonly #told: NewDeliveries[] = []
  readonly #counts = new Map<string, number>()
  #deliveries = 0
  #bytes = 0

  constructor(all: readonly Endpoint[], clock: Pick<RecordClock, 'next'>) {
    this.#audience = matchEndpoints(all)
    this.#clock = clock
  }

  /** Answers false, and does nothing, where it has no room for the message. */
  take(message: QueuedMessage): boolean {
    const to = this.#audience(message)
    if (to.length === 0) return true
    const data = JSON.stringify(message.data)
    this.isFull =
      this.#told.length > 0 &&
      (this.#deliveries + to.length > most.deliveries || this.#bytes + data.length * to.length > most.deliveredBytes)
    if (this.isFull) return false
    this.#deliveries += to.length
    this.#bytes += data.length * to.length
    const deliveries = to.map(({ webhookId }) => {
      const count = (this.#counts.get(webhookId) ?? 0) + 1
      this.#counts.set(webhookId, count)
      return { delivery_id: this.#clock.next().recordId, webhook_id: webhookId, sequence: count }
    })
    const { messageId, kind, occurredAt, recordId, userId } = message
    const ids = { message_id: messageId, record_id: recordId, user_id: userId }
    this.#told.push({ message: { ...ids, kind, occurred_at: occurredAt, data }, deliveries })
    return true
  }

  async insert(tx: TenantTx, breathe: () => Promise<void>): Promise<void> {
    if (this.#told.length === 0) return
    const last = await takeSequences(tx, this.#counts)
    this.grown = dueForLook(this.#counts, last)
    for (const { deliveries } of this.#told) {
      for (const delivery of deliveries) {
        const { webhook_id } = delivery
        delivery.sequence += (last.get(webhook_id) ?? 0) - (this.#counts.get(webhook_id) ?? 0)
      }
    }
    for (const some of statementsOf(this.#told)) {
      await breathe()
      await insertDeliveries(tx, some)
    }
  }
}
