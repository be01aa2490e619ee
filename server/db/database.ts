import type { Kysely } from 'kysely'
import type pg from 'pg'
import type { WaitCounts } from './fair-queue.ts'
import type { IngestStep } from './ingest-script.ts'
import type { RecordContents } from './record-encryption.ts'
import type { RowProofs } from './row-proofs.ts'
import type { RegistryTables, TenantTables } from './schema.ts'
import type { WorkClass } from './work-classes.ts'

// Known to this folder only, so that nothing outside can make a transaction of its own.
declare const scope: unique symbol

/** A transaction of the application role, in which row-level security shows one tenant. */
export interface TenantTx {
  readonly [scope]: 'tenant'
  readonly tenantId: string
  readonly db: Kysely<TenantTables>
  readonly client: pg.ClientBase
  /** What opens contents under the tenant's own key; stores use `openText` and `openRows`. */
  readonly contents: RecordContents
  /** Proves and verifies the rows that let somebody in. */
  readonly proofs: RowProofs
  /** Runs once the transaction has committed; never when it rolled back. It must not throw. */
  afterCommit(work: () => void): void
}

/** A transaction on the tables that belong to no tenant. Tenants' own tables show no row in it. */
export interface RegistryTx {
  readonly [scope]: 'registry'
  readonly db: Kysely<RegistryTables>
  /** Proves and verifies the entries of tenants. */
  readonly proofs: RowProofs
  readonly client: pg.ClientBase
}

export interface TransactionMode {
  readonly readOnly?: boolean
  /** Every statement sees what was committed before the first one, and nothing else (REPEATABLE READ). */
  readonly snapshot?: boolean
  /**
   * Plans read rows through indexes, in their order, wherever there is one. The planner would rather sort all that is
   * left, or read a table through, whenever its statistics are old, or have not seen the tenant yet; then a page costs
   * what the tenant has.
   */
  readonly inIndexOrder?: boolean
  /** Adds up what a tenant has: a few of them at a time, with a time limit of their own. */
  readonly summary?: boolean
}

/**
 * The database, as services see it. Every method runs `work` in one transaction, commits when it returns and rolls
 * back when it throws. A deadlock or a serialization failure runs `work` again, up to three times in all, and so does
 * `NotAtHand` once what is missing was fetched: it must have no effects outside the transaction (use `afterCommit`). One transaction at a time: opening another inside
 * `work` throws, because it would hold two connections and see nothing of the first.
 *
 * Tenants take turns at the connections (ADR 0053).
 *
 * All throw DomainError `hub-unavailable` when the database cannot be reached, is starting or stopping, has no
 * connection free for too long, or takes longer than the class of the transaction allows.
 */
export interface Database {
  withTenant<T>(tenantId: string, work: (tx: TenantTx) => Promise<T>, mode?: TransactionMode): Promise<T>
  withRegistry<T>(work: (tx: RegistryTx) => Promise<T>): Promise<T>
  /**
   * One transaction of the insert-only role, which can add rows to a tenant's tables and read nothing, in one round
   * trip. Throws {@link IngestStepRefused} naming the step that PostgreSQL refused; nothing is stored then.
   */
  ingest(tenantId: string, steps: readonly IngestStep[]): Promise<void>
  /**
   * Calls `wake` soon after each NOTIFY on the channel, with what it says, and without a word whenever listening begins,
   * for then some may have been missed. A hint and no more: it never comes where a pooler does not pass notifications
   * on, and everyone who may connect to the database can cause it. Closed with the database, if not before.
   */
  listen(channel: string, wake: (payload?: string) => void): Listener
  /** What `TenantTx.contents` is from now on, and {@link Database.contents}. */
  useContents(contents: RecordContents): void
  readonly contents: RecordContents
  /** Sets the `proofs` of later transactions. */
  useProofs(proofs: RowProofs): void
  /** Resolves when the database answers, on a connection that nothing else uses. */
  ping(): Promise<void>
  /** Calls `tell` when a transaction meets a full disk, once a second at most. */
  onFull(tell: () => void): void
  /** Notes that another process met a full disk: {@link Database.ping} rejects for a minute. */
  noteFull(): void
  /** What has waited for a connection since the start. */
  waits(): Record<WorkClass, WaitCounts>
  /** Waits for running transactions, then closes every connection. */
  close(): Promise<void>
}

export interface Listener {
  close(): void
}

/** What the database layer reports; a `pino` logger fits. */
export interface DatabaseLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}
