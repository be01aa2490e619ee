import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'

/** A record that is being erased, as it still was. */
export interface ErasedRecord {
  record_id: string
  record_type: string
  /** Of its canonical text; undefined where that cannot be read. */
  created_at: string | undefined
  purged_at: string
  user_id: string | null
  canonical: string
  /** The governance event of its erasure, in the same transaction. */
  event_id: string
}

/**
 * What holds copies, or sums, of records: told in the transaction that erases them, before their rows go. It must leave
 * nothing behind by which a record, or the person in it, could be known.
 */
export interface ErasureParticipant {
  /** In words, for messages and the log. */
  readonly name: string
  forget(tx: TenantTx, records: readonly ErasedRecord[]): Promise<void>
}

/** One erasure, as it is kept outside of the database, so that it can be done again after a backup was restored. */
export interface KeptErasure {
  tenant: string
  record_id: string
  purged_at: string
  purged_by: string
  purge_reason: string
  erased_at: string
}

/** Keeps the list of erasures apart from the database. */
export interface ErasureJournal {
  /** Returns once they are kept; called before the erasing transaction commits, so that the list never lacks one. */
  keep(erasures: readonly KeptErasure[]): Promise<void>
  /** All of a tenant, each at least once, in any order. */
  read(tenant: string): AsyncIterable<KeptErasure>
}

/** What a run did. */
export interface Erased {
  erased: number
  /** Whose buffer is over, but which a hold, or a lack of release, keeps. */
  held: number
}

/** The end of records. */
export interface Erasure {
  /** Erases the purged records of a tenant whose buffer is over, in parts; the signal ends it between two parts. */
  run(tenant: Tenant, options?: { signal?: AbortSignal; asOf?: string }): Promise<Erased>
  /** Purges what is older than the `max_days` of its retention rule, in parts. Answers how many. */
  purgeOverdue(tenant: Tenant, options?: { signal?: AbortSignal; asOf?: string }): Promise<number>
  /**
   * Both, in parts, each done when the next one is asked for, so that whoever does it for many tenants can take turns.
   */
  parts(tenant: Tenant, options?: { signal?: AbortSignal }): AsyncIterable<unknown>
  /**
   * Erases again what the kept list names and the database has again, such as after a restore, without asking for the
   * buffer: it was over then. Answers how many.
   */
  reapply(tenant: Tenant, erasures: AsyncIterable<KeptErasure>): Promise<number>
}
