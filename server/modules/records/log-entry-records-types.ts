import type { Scope } from '../../../contract/scopes.ts'
import type { TenantTx } from '../../db/database.ts'
import type { LogEntry } from '../log/log-types.ts'

/** The scopes of a caller and the time of the read. Records whose recovery period is over by then are gone. */
export interface Viewer {
  scopes: ReadonlySet<Scope>
  /** RFC 3339. */
  now: string
}

/** The place of a record in the log, also after its erasure. */
export interface LogEntryPlace {
  logIndex: number
  leafIndex: number
  sealId: string
  recordId: string
  /** Whether the record is erased, so that only its place remains. */
  erased: boolean
  /** The length of the canonical text in bytes; 0 if erased. */
  bytes: number
}

/** The place of a readable record, with its hash and cosignature. */
export interface RecordPlace {
  sealId: string
  leafIndex: number
  /** `sha256:…` */
  provenanceHash: string
  /** `omhc1.…` */
  provenanceCosign: string
}

/** Reads the records of the tenant's log for a caller. Omits records of types that the caller's scopes hide. */
export interface LogEntryRecords {
  /** Returns the places of the entries' records, in log order. */
  places(tx: TenantTx, entries: readonly LogEntry[], viewer: Viewer): Promise<LogEntryPlace[]>
  /**
   * Returns the records of places that are not erased as JSON in their API form, by id. Skips records whose content was
   * destroyed with its key.
   */
  answers(tx: TenantTx, places: readonly LogEntryPlace[], viewer: Viewer): Promise<Map<string, string>>
  /**
   * Returns the seal and the leaf of a record, also after its erasure; undefined if the viewer cannot see it in the
   * log.
   */
  sealPlaceOf(
    tx: TenantTx,
    recordId: string,
    viewer: Viewer,
  ): Promise<Pick<RecordPlace, 'sealId' | 'leafIndex'> | undefined>
  /**
   * Returns the place of a record.
   *
   * @throws DomainError `not-found` for a record that the viewer cannot read
   */
  placeOf(tx: TenantTx, recordId: string, viewer: Viewer): Promise<RecordPlace>
  /**
   * Returns the place of a record, and the record as JSON in its API form, also if its content was destroyed with its
   * key.
   *
   * @throws DomainError `not-found` for a record that the viewer cannot read
   */
  recordOf(tx: TenantTx, recordId: string, viewer: Viewer): Promise<{ place: RecordPlace; json: string }>
}
