import type { Kysely } from 'kysely'
import type pg from 'pg'
import type { WaitCounts } from './fair-queue.ts'
import type { IngestStep } from './ingest-script.ts'
import type { RowProofs } from './row-proofs.ts'
import type { RegistryTables, TenantTables } from './schema.ts'
import type { WorkClass } from './work-classes.ts'

// The symbol is private to this folder, so nothing outside can construct a transaction.
declare const scope: unique symbol

/** A transaction of the application role, in which row-level security shows one tenant. */
export interface TenantTx {
  readonly [scope]: 'tenant'
  readonly tenantId: string
  readonly db: Kysely<TenantTables>
  readonly client: pg.ClientBase
  /** Decrypts contents under the tenant's own key; stores use `readText` and `readTexts`. */
  readonly contents: RecordContents
  /** Proves and verifies the rows that grant access. */
  readonly proofs: RowProofs
  /** Runs once the transaction has committed; never when it rolled back. It must not throw. */
  afterCommit(work: () => void): void
}

/** A transaction on the tables without a tenant. The tables of tenants show no row in it. */
export interface RegistryTx {
  readonly [scope]: 'registry'
  readonly db: Kysely<RegistryTables>
  /** Proves and verifies the entries of tenants. */
  readonly proofs: RowProofs
  readonly client: pg.ClientBase
}

export interface TransactionMode {
  readonly readOnly?: boolean
  /** Whether every statement sees exactly the rows that were committed before the first one (REPEATABLE READ). */
  readonly snapshot?: boolean
  /**
   * Whether plans read rows through indexes, in their order, if possible. Otherwise the planner prefers to sort all
   * rows or to scan a table if its statistics are old or lack the tenant. A page then costs as much as all rows of the
   * tenant.
   */
  readonly inIndexOrder?: boolean
  /**
   * Whether the transaction aggregates the data of a tenant. Few of these run concurrently, with a time limit of their
   * own.
   */
  readonly summary?: boolean
  /**
   * Whether the transaction may run on the read replica, where it sees everything that was committed before. It must
   * only read, and take no lock.
   */
  readonly onReplica?: boolean
  /** Whether the transaction searches words. Few of these run concurrently, with a short time limit. */
  readonly search?: boolean
}

/** Encrypts the contents of one tenant under its newest key. Valid until the transaction, or the call, ends. */
export interface ContentEncryptor {
  readonly keyId: string
  /**
   * Encrypts a text.
   *
   * @param recordId the record of the text; the result decrypts for no other record
   */
  encrypt(recordId: string, text: string): string
}

/** Identifies a destroyed key, and the governance event that records its destruction. */
export interface DestroyedKey {
  keyId: string
  eventId: string | null
}

/**
 * Decrypts and encrypts contents with the keys cached in this process. Its knowledge of keys is at most five seconds
 * old. All methods but {@link RecordContents.outside} belong inside a transaction: if something must be fetched first,
 * they throw `FetchRequiredError`, and the transaction runs again.
 */
export interface RecordContents {
  /**
   * Returns the decrypted text, or the stored text if it does not decrypt: its key was destroyed, or it was edited, and
   * then it does not match its hash.
   */
  decrypt(tenantId: string, recordId: string, stored: string): string
  /** Decrypts by the record id in the text itself, if no other source names it. The reader must compare the id. */
  openJoined(tenantId: string, stored: string): string
  /** Returns the destroyed key under which a stored text is encrypted, if any. */
  destroyedKeyOf(tenantId: string, stored: string): DestroyedKey | undefined
  /** Returns the prefixes of texts whose keys were destroyed, as far as they are cached. */
  erasedBeginnings(tenantId: string): readonly string[]
  /**
   * Returns the number of destroyed keys of the tenant, and prevents further destruction until the transaction ends.
   * From then on this process decrypts nothing with a counted key.
   */
  destructions(tx: TenantTx): Promise<number>
  /**
   * Returns an encryptor for the tenant's active key, which stays active until the transaction ends; undefined for a
   * tenant without a key.
   */
  encryptor(tx: TenantTx): Promise<ContentEncryptor | undefined>
  /**
   * Returns an encryptor outside of a transaction, for the steps of `Database.ingest`. Their first step must be
   * `requireContentKey`. Throws DomainError `hub-not-provisioned` for a tenant without a key.
   *
   * @param fresh reads the active key again
   */
  outside(tenantId: string, fresh?: boolean): Promise<ContentEncryptor>
}

/**
 * The database, as services see it. Every method runs `work` in one transaction, commits when it returns and rolls back
 * when it throws. `work` runs again after a deadlock or a serialization failure, up to three times in all, and after a
 * `FetchRequiredError` once the missing data is fetched. So it must have no effects outside the transaction (use
 * `afterCommit`). Transactions do not nest: opening another inside `work` throws, because it would hold two connections
 * and not see the changes of the first.
 * Tenants take turns at the connections (ADR 0053).
 * All methods throw DomainError `hub-unavailable` if the database cannot be reached, is starting or stopping, has no
 * free connection for too long, or takes longer than the class of the transaction allows.
 */
export interface Database {
  withTenant<T>(tenantId: string, work: (tx: TenantTx) => Promise<T>, mode?: TransactionMode): Promise<T>
  withRegistry<T>(work: (tx: RegistryTx) => Promise<T>): Promise<T>
  /**
   * Runs one transaction of the insert-only role in one round trip. The role can add rows to a tenant's tables and read
   * nothing. Throws {@link IngestStepRejected} with the step that PostgreSQL refused; nothing is stored then.
   */
  ingest(tenantId: string, steps: readonly IngestStep[]): Promise<void>
  /**
   * Calls `wake` with the payload soon after each NOTIFY on the channel, and without a payload whenever listening
   * starts, because notifications may have been missed. Best effort: a pooler may not pass notifications on, and anyone
   * who may connect to the database can send them. Closes with the database at the latest.
   */
  listen(channel: string, wake: (payload?: string) => void): Listener
  /** Sets {@link Database.contents} and the `contents` of later transactions. */
  useContents(contents: RecordContents): void
  readonly contents: RecordContents
  /** Sets the `proofs` of later transactions. */
  useProofs(proofs: RowProofs): void
  /** Resolves when the database answers, on a connection of its own. */
  ping(): Promise<void>
  /** Calls `tell` when a transaction meets a full disk, at most once a second. */
  onFull(tell: () => void): void
  /** Records that another process met a full disk: {@link Database.ping} rejects for a minute. */
  noteFull(): void
  /** Returns the waits for a connection since the start. */
  waits(): Record<WorkClass, WaitCounts>
  /** Returns the reads of {@link TransactionMode.onReplica} since the start, if there is a replica. */
  replicaReads(): ReplicaReads
  /** Throws if the address of the replica leads to another database. A replica that is away does not matter. */
  checkReplica(): Promise<void>
  /** Returns the open connections of each pool, and its maximum. */
  connections(): Record<string, PoolConnections>
  /** Waits for running transactions, then closes every connection. */
  close(): Promise<void>
}

/** Connections of one pool: those with a transaction, those without one, and the maximum of both. */
export interface PoolConnections {
  active: number
  idle: number
  max: number
}

/** Reads that may run on a replica, by the server that answered them. */
export interface ReplicaReads {
  replica: number
  primary: number
}

/** Runs a transaction of {@link Database.withTenant} that only reads. */
export function readTenant<T>(
  database: Pick<Database, 'withTenant'>,
  tenantId: string,
  read: (tx: TenantTx) => Promise<T>,
  mode: Omit<TransactionMode, 'readOnly'> = {},
): Promise<T> {
  return database.withTenant(tenantId, read, { ...mode, readOnly: true })
}

export interface Listener {
  close(): void
}

/** The log of the database layer; a `pino` logger fits. */
export interface DatabaseLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}
