import { DomainError } from '../../../../contract/domain-error.ts'
import { webhookOpenDeliveriesMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database, DatabaseLog, TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import type { RecordClock } from '../../../records/record-clock.ts'
import type { DeliveryAttempt } from '../delivery-types.ts'
import { matchEndpoints } from '../outbox/endpoint-matching.ts'
import { type QueuedMessage, readMessages, writeMessages } from '../outbox/outbox-message.ts'
import * as store from '../outbox/outbox-store.ts'
import { deleteOutboxRows, lockWebhooks, updateOutboxRow } from '../outbox/outbox-store.ts'
import type { Endpoint, Endpoints } from '../webhooks-types.ts'
import { insertDeliveries, type NewDeliveries, statementsOf, takeSequences } from './delivery-queue-store.ts'
import { beginBacklog, endBacklog, failOldest, openState } from './outcome-store.ts'

/** Limits of one transaction: what it reads, and what it creates. It takes at least one message of any size. */
const most = { rows: 1_000, bytes: 1024 * 1024, deliveries: 5_000, deliveredBytes: 16 * 1024 * 1024 }
/** Milliseconds until an unreadable row is tried again. */
const aloneMs = 5 * 60_000

/** The result of a turn of the relay. */
export interface RelayTurn {
  isMore: boolean
  /** Milliseconds that the oldest row had waited at the start; 0 without rows. */
  waitedMs: number
  /** Endpoints that got so many messages that their backlog must be checked. */
  grown: readonly string[]
}

/** Turns the outbox into deliveries. */
export interface Relay {
  /** Relays the oldest part of a tenant's outbox. */
  run(tenantId: string): Promise<RelayTurn>
}

/**
 * Creates the relay. It keeps the order of the outbox, as far as concurrent transactions have one. Each message becomes
 * deliveries in the transaction that takes it from the outbox, so exactly once. One process relays at a time, and finds
 * the rows that others left. An unreadable row is logged, stays, and delays no other.
 */
export function createRelay(deps: {
  database: Database
  endpoints: Pick<Endpoints, 'all'>
  /** The clock for the ids of deliveries. */
  clock: Pick<RecordClock, 'next'>
  log: Pick<DatabaseLog, 'error'>
}): Relay {
  const { database, endpoints, clock, log } = deps
  /**
   * Rows to skip, and until when. Rows that this process cannot read are skipped for ever: a newer version may read
   * them.
   */
  const leftAlone = new Map<string, number>()
  /**
   * Tenants with a row that makes a transaction fail: each row gets a transaction of its own until that one is found.
   */
  const oneByOne = new Set<string>()

  function except(): string[] {
    for (const [outboxId, untilMs] of leftAlone) if (untilMs <= performance.now()) leftAlone.delete(outboxId)
    return [...leftAlone.keys()]
  }

  function messagesOf(tx: TenantTx, row: store.OutboxRow): QueuedMessage[] | undefined {
    try {
      return readMessages(row.messages)
    } catch (error) {
      log.error({ err: error, tenant: tx.tenantId, outboxId: row.outbox_id }, 'waiting messages cannot be read')
      leftAlone.set(row.outbox_id, Number.POSITIVE_INFINITY)
      return undefined
    }
  }

  async function relaySome(tx: TenantTx, rows: readonly store.OutboxRow[]): Promise<Part> {
    const yieldIfLong = createEventLoopYielder()
    const part = new Part(await endpoints.all(tx), clock)
    const done: string[] = []
    for (const row of rows) {
      await yieldIfLong()
      const messages = messagesOf(tx, row)
      if (!messages) continue
      let taken = 0
      while (taken < messages.length && part.take(messages[taken] as QueuedMessage)) {
        taken += 1
        await yieldIfLong()
      }
      if (taken === messages.length) done.push(row.outbox_id)
      else if (taken > 0) await updateOutboxRow(tx, row.outbox_id, writeMessages(messages.slice(taken)))
      if (taken < messages.length) break
    }
    await part.insert(tx, yieldIfLong)
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
      // A temporary refusal of the database says nothing about the rows.
      if (!first || error instanceof DomainError) throw error
      if (second) oneByOne.add(tenantId)
      else leaveAlone(tenantId, first, error)
      return { isMore: true, grown: [] }
    }
  }

  function leaveAlone(tenantId: string, { outbox_id }: store.OutboxRow, error: unknown): void {
    const details = { err: error, tenant: tenantId, outboxId: outbox_id }
    log.error(details, 'could not create deliveries from queued messages')
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

/** Returns the time in a UUIDv7 (RFC 9562, section 5.7). */
function madeAtMs(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** The deliveries that one transaction creates. */
class Part {
  isFull = false
  /** Set once the deliveries are inserted. */
  grown: readonly string[] = []
  readonly #clock: Pick<RecordClock, 'next'>
  readonly #audience: ReturnType<typeof matchEndpoints>
  readonly #pending: NewDeliveries[] = []
  readonly #counts = new Map<string, number>()
  #deliveries = 0
  #bytes = 0

  constructor(all: readonly Endpoint[], clock: Pick<RecordClock, 'next'>) {
    this.#audience = matchEndpoints(all)
    this.#clock = clock
  }

  /** Adds a message; returns false, and does nothing, without room for it. */
  take(message: QueuedMessage): boolean {
    const to = this.#audience(message)
    if (to.length === 0) return true
    const data = JSON.stringify(message.data)
    this.isFull =
      this.#pending.length > 0 &&
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
    this.#pending.push({ message: { ...ids, kind, occurred_at: occurredAt, data }, deliveries })
    return true
  }

  async insert(tx: TenantTx, yieldIfLong: () => Promise<void>): Promise<void> {
    if (this.#pending.length === 0) return
    const last = await takeSequences(tx, this.#counts)
    this.grown = dueForLook(this.#counts, last)
    for (const { deliveries } of this.#pending) {
      for (const delivery of deliveries) {
        const { webhook_id } = delivery
        delivery.sequence += (last.get(webhook_id) ?? 0) - (this.#counts.get(webhook_id) ?? 0)
      }
    }
    for (const some of statementsOf(this.#pending)) {
      await yieldIfLong()
      await insertDeliveries(tx, some)
    }
  }
}

/** Messages to an endpoint between two checks of its backlog, which may exceed the limit by as many. */
export const messagesPerLook = 5_000
/** Maximum number of deliveries given up in one transaction. */
const partMax = 2_000
/** Maximum number of the first waiting deliveries that are spared, because they may be in transit. */
const sparedMax = 2_000

/** Limits the backlog of each endpoint. */
export interface BacklogLimit {
  /** Gives up the oldest waiting deliveries above the limit, and writes one event when that starts. */
  check(tenant: Tenant, webhookIds: readonly string[]): Promise<void>
}

/** Returns the endpoints due for a check, given the number of their new messages and their last sequence. */
export function dueForLook(counts: ReadonlyMap<string, number>, last: ReadonlyMap<string, number>): string[] {
  const looks = (sequence: number) => Math.floor(sequence / messagesPerLook)
  return [...counts].flatMap(([webhookId, count]) => {
    const to = last.get(webhookId) ?? 0
    return looks(to) > looks(to - count) ? [webhookId] : []
  })
}

/** @param openMax the limit; tests lower it */
export function createBacklogLimit(
  deps: { database: Pick<Database, 'withTenant'>; endpoints: Pick<Endpoints, 'overflowed'> },
  openMax = webhookOpenDeliveriesMax,
): BacklogLimit {
  const { database, endpoints } = deps
  const spared = Math.min(sparedMax, Math.floor(openMax / 2))

  /** Gives up a part, and returns whether more remain. */
  async function part(tx: TenantTx, tenant: Tenant, webhookId: string): Promise<boolean> {
    const state = await openState(tx, webhookId, openMax + partMax)
    if (!state) return false
    const excess = state.open - openMax
    if (excess <= 0) {
      // The overflow ends at half of the limit; otherwise a backlog near the limit would cause event after event.
      if (state.overflowing_since !== null && state.open <= openMax / 2) await endBacklog(tx, webhookId)
      return false
    }
    const at = formatTimestamp(Date.now())
    const isNew = await beginBacklog(tx, webhookId, at)
    const attempt = noAttempt(state.url, at, openMax)
    const givenUp = await failOldest(tx, webhookId, { spared, count: excess, attempt })
    if (isNew) await endpoints.overflowed(tx, tenant, webhookId, openMax)
    return givenUp === partMax
  }

  return {
    async check(tenant, webhookIds) {
      for (const webhookId of webhookIds) {
        const run = (tx: TenantTx) => part(tx, tenant, webhookId)
        while (await database.withTenant(tenant.slug, run, { inIndexOrder: true }));
      }
    },
  }
}

function noAttempt(url: string, at: string, openMax: number): DeliveryAttempt {
  const detail = `Dropped without a further attempt: more than ${openMax} messages waited for the endpoint.`
  return { at, duration_ms: 0, url, request_headers: {}, error: { code: 'overflow', detail } }
}
