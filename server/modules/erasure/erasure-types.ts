import type { TenantTx } from '../../db/database.ts'
import type { TenantTables } from '../../db/schema.ts'
import type { Caller, Tenant } from '../../http/caller.ts'

/** A record that is being erased, in its last state. */
export interface ErasedRecord {
  record_id: string
  record_type: string
  /** The creation time in its canonical text; undefined if that cannot be read. */
  created_at: string | undefined
  purged_at: string
  user_id: string | null
  canonical: string
  /** The governance event of its erasure, in the same transaction. */
  event_id: string
}

/** An erasure in the journal outside of the database, repeated after a backup is restored. */
export type JournaledErasure = { tenant: string } & Pick<
  TenantTables['hub.tombstones'],
  'record_id' | 'purged_at' | 'purged_by' | 'purge_reason' | 'erased_at'
>

/** Stores the erasure journal outside of the database. */
export interface ErasureJournal {
  /**
   * Returns once the erasures are stored. Must be called before the erasing transaction commits, so that the journal is
   * complete.
   */
  keep(erasures: readonly JournaledErasure[]): Promise<void>
  /** Lists all erasures of a tenant, each at least once, in any order. */
  read(tenant: string): AsyncIterable<JournaledErasure>
}

/** The result of a run. */
export interface Erased {
  erased: number
  /** The number of records whose recovery period is over, but which a hold or a missing release keeps. */
  held: number
}

/** Purges and erases records. */
export interface Erasure {
  /**
   * Erases, in parts, the purged records of a tenant whose recovery period is over. The signal stops it between two
   * parts.
   */
  run(tenant: Tenant, options?: { signal?: AbortSignal; asOf?: string }): Promise<Erased>
  /** Purges, in parts, the records older than the `max_days` of their retention rule. Returns their number. */
  purgeOverdue(tenant: Tenant, options?: { signal?: AbortSignal; asOf?: string }): Promise<number>
  /** Purges and erases in parts, each on request, so that callers can alternate between tenants. */
  parts(tenant: Tenant, options?: { signal?: AbortSignal }): AsyncIterable<unknown>
  /**
   * Erases again the records of the journal that the database contains again, such as after a restore. Ignores the
   * recovery period, which was over then. Returns their number.
   */
  reapply(tenant: Tenant, erasures: AsyncIterable<JournaledErasure>): Promise<number>
}

/** Decides whether all content of a tenant may be destroyed at once. */
export interface ContentDestruction {
  /** Blocks placing and releasing holds until the transaction ends. Must be called first. */
  lock(tx: TenantTx): Promise<void>
  /**
   * Throws if content must be kept.
   *
   * @throws DomainError `legal-hold`, `retention`
   */
  requireAllowed(tx: TenantTx): Promise<void>
}

export type CertificateReader = Pick<Caller, 'tenant' | 'scopes'>

/** Proves erasures to readers. */
export interface DeletionCertificates {
  /**
   * Returns the proof that a record existed and was erased, as JSON; see provenance/deletion-certificate.ts. The id
   * must be in lower case.
   *
   * @throws DomainError `not-found`, or `concurrent-modification` while the record is not erased
   */
  get(caller: CertificateReader, recordId: string): Promise<string>
}
