import type { Scope } from '../../../contract/scopes.ts'
import type { TenantTx } from '../../db/database.ts'
import type { LogEntry } from '../log/log-types.ts'

/** Who looks, and when: records beyond their recovery buffer are gone by then. */
export interface Viewer {
  scopes: ReadonlySet<Scope>
  /** RFC 3339. */
  now: string
}

/** A place in the log that a record has, or had. */
export interface LogEntryPlace {
  logIndex: number
  leafIndex: number
  sealId: string
  recordId: string
  /** What remains of the record is that it was there. */
  erased: boolean
  /** Of the canonical text; 0 where it is erased. */
  bytes: number
}

/** Where a record that can be read stands, and what places it there. */
export interface RecordPlace {
  sealId: string
  leafIndex: number
  /** `sha256:…` */
  provenanceHash: string
  /** `omhc1.…` */
  provenanceCosign: string
}

/** Records as the tenant's log shows them to a caller: those of types that the scopes hide are not there. */
export interface LogEntryRecords {
  /** The places under the entries, in the order of the log. */
  places(tx: TenantTx, entries: readonly LogEntry[], viewer: Viewer): Promise<LogEntryPlace[]>
  /**
   * The records of places that are not erased, as the API answers them, in JSON, by id. One whose content is gone with
   * its key is missing.
   */
  answers(tx: TenantTx, places: readonly LogEntryPlace[], viewer: Viewer): Promise<Map<string, string>>
  /** Where a record was sealed, one that is erased too; undefined for one that the viewer cannot see in the log. */
  sealPlaceOf(
    tx: TenantTx,
    recordId: string,
    viewer: Viewer,
  ): Promise<Pick<RecordPlace, 'sealId' | 'leafIndex'> | undefined>
  /** Throws DomainError `not-found` for a record that the viewer cannot read. */
  placeOf(tx: TenantTx, recordId: string, viewer: Viewer): Promise<RecordPlace>
}
