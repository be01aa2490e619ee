import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { AnsweredRecord } from '../../records/record-rows.ts'

/** Returns rows for responses, with the remaining clear data of those whose content was destroyed with its key. */
export type AnswerableRows = (tx: TenantTx, rows: readonly AnsweredRecord[]) => Promise<readonly AnsweredRecord[]>

/** Finds the records of a search for other modules. */
export interface SearchMatches {
  /**
   * Checks a query in the language of the tenant.
   *
   * @param pointer of the query in the request
   * @throws DomainError `validation-failed`
   */
  check(tx: TenantTx, q: string, pointer: string): Promise<void>
  /** Returns the ids of all records that pages of the search contain, the oldest first. */
  ids(tenant: Tenant, scope: MatchScope): Promise<string[]>
}

export interface MatchScope {
  q: string
  recordTypes: readonly string[]
  skillId: string | undefined
  /** RFC 3339, UTC, six fractional digits; inclusive. */
  from: string | undefined
  /** As `from`; exclusive. */
  before: string | undefined
}

/** A record to index. */
export interface IndexedRecord {
  recordId: string
  recordType: string
  /** The canonical text, decrypted. */
  canonical: string
}
