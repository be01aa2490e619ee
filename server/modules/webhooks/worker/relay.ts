import { DomainError } from '../../../../contract/domain-error.ts'
import { webhookOpenDeliveriesMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { type Database, type DatabaseLog, readTenant, type TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import type { RecordClock } from '../../../records/record-clock.ts'
import type { Endpoints } from '../endpoints/endpoints.ts'
import { matchEndpoints } from '../outbox/endpoint-matching.ts'
import * as store from '../outbox/outbox-store.ts'
import { type QueuedMessage, readMessages, writeMessages } from '../outbox/webhook-outbox.ts'
import type { DeliveryAttempt, Endpoint } from '../webhooks-types.ts'
import { unsentAttempt } from './attempt.ts'
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

/**
 * Turns the outbox into deliveries. It keeps the order of the outbox, as far as concurrent transactions have one. Each
 * message becomes deliveries in the transaction that takes it from the outbox, so exactly once. One process relays at a
 * time, and finds the rows that others left. An unreadable row is logged, stays, and delays no other.
 */
export class Relay {
  readonly #deps: RelayDeps
  /**
   * Rows to skip, and until when. Rows that this process cannot read are skipped for ever: a newer version may read
   * them.
   */
  readonly #leftAlone = new Map<string, number>()
  /**
   * Tenants with a row that makes a transaction fail: each row gets a transaction of its own until that one is found.
   */
  readonly #oneByOne = new Set<string>()

  constructor(deps: RelayDeps) {
    this.#deps = deps
  }

  /** Relays the oldest part of a tenant's outbox. */
  async run(tenantId: string): Promise<RelayTurn> {
    const oldest = await readTenant(this.#deps.database, tenantId, store.oldestOutboxId)
    if (oldest === undefined) return { isMore: false, waitedMs: 0, grown: [] }
    const waitedMs = Math.max(0, Date.now() - madeAtMs(oldest))
    return { ...(await this.#runTurn(tenantId)), waitedMs }
  }

  async #runTurn(tenantId: string): Promise<Pick<RelayTurn, 'isMore' | 'grown'>> {
    const limit = this.#oneByOne.has(tenantId) ? { ...most, rows: 1 } : most
    let rows: store.OutboxRow[] = []
    try {
      return await this.#deps.database.withTenant(tenantId, async (tx) => {
        await store.lockWebhooks(tx)
        rows = await store.oldestOutboxRows(tx, limit, this.#skipped())
        if (rows.length === 0) this.#oneByOne.delete(tenantId)
        const bytes = rows.reduce((sum, { messages }) => sum + messages.length, 0)
        const part = rows.length > 0 ? await this.#relaySome(tx, rows) : undefined
        const isMore = part?.isFull || rows.length === limit.rows || bytes >= limit.bytes
        return { isMore, grown: part?.grown ?? [] }
      })
    } catch (error) {
      const [first, second] = rows
      // A temporary refusal of the database says nothing about the rows.
      if (!first || error instanceof DomainError) throw error
      if (second) this.#oneByOne.add(tenantId)
      else this.#leaveAlone(tenantId, first, error)
      return { isMore: true, grown: [] }
    }
  }

  async #relaySome(tx: TenantTx, rows: readonly store.OutboxRow[]): Promise<Part> {
    const { endpoints, clock } = this.#deps
    const yieldIfLong = createEventLoopYielder()
    const part = new Part(await endpoints.all(tx), clock)
    const done: string[] = []
    for (const row of rows) {
      await yieldIfLong()
      const messages = this.#messagesOf(tx, row)
      if (!messages) continue
      let taken = 0
      while (taken < messages.length && part.take(messages[taken] as QueuedMessage)) {
        taken += 1
        await yieldIfLong()
      }
      if (taken === messages.length) done.push(row.outbox_id)
      else if (taken > 0) await store.updateOutboxRow(tx, row.outbox_id, writeMessages(messages.slice(taken)))
      if (taken < messages.length) break
    }
    await part.insert(tx, yieldIfLong)
    if (done.length > 0) await store.deleteOutboxRows(tx, done)
    return part
  }

  #messagesOf(tx: TenantTx, { messages, outbox_id: outboxId }: store.OutboxRow): QueuedMessage[] | undefined {
    try {
      return readMessages(messages)
    } catch (error) {
      this.#deps.log.error({ err: error, tenant: tx.tenantId, outboxId }, 'waiting messages cannot be read')
      this.#leftAlone.set(outboxId, Number.POSITIVE_INFINITY)
      return undefined
    }
  }

  #leaveAlone(tenantId: string, { outbox_id: outboxId }: store.OutboxRow, error: unknown): void {
    const details = { err: error, tenant: tenantId, outboxId }
    this.#deps.log.error(details, 'could not create deliveries from queued messages')
    this.#leftAlone.set(outboxId, performance.now() + aloneMs)
    this.#oneByOne.delete(tenantId)
  }

  #skipped(): string[] {
    for (const [outboxId, untilMs] of this.#leftAlone) {
      if (untilMs <= performance.now()) this.#leftAlone.delete(outboxId)
    }
    return [...this.#leftAlone.keys()]
  }
}

interface RelayDeps {
  database: Database
  endpoints: Pick<Endpoints, 'all'>
  /** The clock for the ids of deliveries. */
  clock: Pick<RecordClock, 'next'>
  log: Pick<DatabaseLog, 'error'>
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

/** Returns the endpoints due for a check, given the number of their new messages and their last sequence. */
export function dueForLook(counts: ReadonlyMap<string, number>, last: ReadonlyMap<string, number>): string[] {
  const looks = (sequence: number) => Math.floor(sequence / messagesPerLook)
  return [...counts].flatMap(([webhookId, count]) => {
    const to = last.get(webhookId) ?? 0
    return looks(to) > looks(to - count) ? [webhookId] : []
  })
}

/** Limits the backlog of each endpoint. */
export class BacklogLimit {
  readonly #deps: { database: Pick<Database, 'withTenant'>; endpoints: Pick<Endpoints, 'overflowed'> }
  readonly #openMax: number

  /** @param openMax the limit; tests lower it */
  constructor(
    deps: { database: Pick<Database, 'withTenant'>; endpoints: Pick<Endpoints, 'overflowed'> },
    openMax = webhookOpenDeliveriesMax,
  ) {
    this.#deps = deps
    this.#openMax = openMax
  }

  /** Gives up the oldest waiting deliveries above the limit, and writes one event when that starts. */
  async check(tenant: Tenant, webhookIds: readonly string[]): Promise<void> {
    for (const webhookId of webhookIds) {
      const run = (tx: TenantTx) => this.#giveUp(tx, tenant, webhookId)
      while (await this.#deps.database.withTenant(tenant.slug, run, { inIndexOrder: true }));
    }
  }

  /** Gives up a part, and returns whether more remain. */
  async #giveUp(tx: TenantTx, tenant: Tenant, webhookId: string): Promise<boolean> {
    const openMax = this.#openMax
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
    const spared = Math.min(sparedMax, Math.floor(openMax / 2))
    const givenUp = await failOldest(tx, webhookId, { spared, count: excess, attempt })
    if (isNew) await this.#deps.endpoints.overflowed(tx, tenant, webhookId, openMax)
    return givenUp === partMax
  }
}

function noAttempt(url: string, at: string, openMax: number): DeliveryAttempt {
  const detail = `Dropped without a further attempt: more than ${openMax} messages waited for the endpoint.`
  return { ...unsentAttempt(url, 'overflow', detail), at }
}
