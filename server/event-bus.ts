import type { TenantTx } from './db/database.ts'
import type { Tenant } from './http/caller.ts'
import type { ErasedRecord } from './modules/erasure/erasure-types.ts'
import type { Actor, WrittenEvent } from './modules/governance/governance-types.ts'
import type { LogHead } from './modules/log/log-types.ts'
import type { IndexedRecord } from './modules/search/search-types.ts'

/** Events that are part of a transaction: their subscribers write in it, or their work is undone with it. */
export interface TransactionEvents {
  /** Governance events were written, by the service or by a client (`custom.*`). */
  governanceWritten: { tenant: Tenant; events: readonly WrittenEvent[] }
  /** Records other than telemetry events were stored. `isEncrypted` if their contents are encrypted. */
  recordsStored: { records: readonly IndexedRecord[]; isEncrypted: boolean }
  /** A user lost the right to sessions. */
  userDeactivated: { tenant: Tenant; userId: string; actor: Actor }
  /** Archetypes left the bundle of the tenant. */
  archetypesRemoved: { tenant: Tenant; archetypeIds: readonly string[]; actor: Actor }
  /**
   * Records are about to be deleted. Subscribers delete copies and aggregates of them. No trace by which a record, or
   * the person in it, could be identified may remain.
   */
  recordsErased: { records: readonly ErasedRecord[] }
}

/** Events about what has been committed. Subscribers drop a cached value, or wake background work. */
export interface CommittedEvents {
  /** A transaction stored seals. */
  recordsSealed: { tenantId: string }
  /** Telemetry events, or corrections of their costs (then `events` is 0), were stored. */
  telemetryStored: { tenantId: string; events: number }
  /** A request of OpenTelemetry was received. `accepted` includes items that were stored before. */
  otlpReceived: { signal: 'traces' | 'logs'; accepted: number; rejected: number; ignored: number }
  /** Ingest of a tenant was slowed down because its deltas are not aggregated in time. */
  ingestSlowed: { outcome: 'delayed' | 'refused' }
  /** Skills or archetypes of a tenant changed, which validate telemetry. */
  catalogueChanged: { tenantId: string }
  /** The published skills, or those to whom they are granted, changed. */
  skillsChanged: { tenantId: string }
  /** A tenant has another language for its search. */
  searchLanguageChanged: { tenantId: string }
  /** A tenant's log has a new signed head. */
  headSigned: { tenant: Tenant; head: LogHead }
  /** A log is inconsistent with a checkpoint that was stored outside of the database. */
  checkpointMismatch: { tenant: Tenant; found: { tree_size: number; kept_tree_size: number; place: string } }
}

/**
 * Connects modules that would otherwise need each other. A module subscribes in its factory; handlers of an event run in
 * the order of subscription, which is the order of `createModules`.
 */
export class EventBus {
  readonly #inTransaction = new Map<string, ((tx: TenantTx, event: never) => Promise<void>)[]>()
  readonly #committed = new Map<string, ((event: never) => void)[]>()

  /** Adds a handler that runs in the publisher's transaction. An error of the handler rolls the transaction back. */
  onInTransaction<Name extends keyof TransactionEvents>(
    name: Name,
    handler: (tx: TenantTx, event: TransactionEvents[Name]) => Promise<void>,
  ): void {
    this.#inTransaction.set(name, [...(this.#inTransaction.get(name) ?? []), handler])
  }

  /** Runs the handlers one after another, and resolves after the last. Rejects with the error of the first that fails. */
  async publishInTransaction<Name extends keyof TransactionEvents>(
    tx: TenantTx,
    name: Name,
    event: TransactionEvents[Name],
  ): Promise<void> {
    for (const handler of this.#inTransaction.get(name) ?? []) await handler(tx, event as never)
  }

  /** Adds a handler that runs after the commit. It must neither throw nor block. */
  on<Name extends keyof CommittedEvents>(name: Name, handler: (event: CommittedEvents[Name]) => void): void {
    this.#committed.set(name, [...(this.#committed.get(name) ?? []), handler])
  }

  /** Runs the handlers. Call it after the commit, such as in `tx.afterCommit`. */
  publish<Name extends keyof CommittedEvents>(name: Name, event: CommittedEvents[Name]): void {
    for (const handler of this.#committed.get(name) ?? []) handler(event as never)
  }
}
