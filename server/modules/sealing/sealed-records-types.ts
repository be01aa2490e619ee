import type { ExportFilter } from '../../../contract/export-filter.ts'
import type { RecordFilter } from '../../../contract/record-filter.ts'
import type { JsonObject } from '../../../provenance/index.ts'
import type { TenantTx } from '../../db/database.ts'
import type { SealedRow, StoredSeal } from '../../records/record-rows.ts'
import type { LogEntry } from '../log/log-types.ts'

export interface RecordsOfEntries {
  /** The records of all entries, in log order: by entry, then by leaf index. Erased ones are absent. */
  records: SealedRow[]
  /** The seals by id. Somebody deleted an absent one. */
  seals: Map<string, StoredSeal>
}

/** Selects records. Purged ones are never selected. */
export interface RecordSelection {
  filter: ExportFilter
  /** The only types to select, regardless of the filter. */
  recordTypes: readonly string[]
  /** The only records to select, sorted; absent: all. They replace the member `q` of the filter. */
  recordIds?: readonly string[] | undefined
  /**
   * The types whose records have only their columns, and the member `content_omitted`. So have, in Mode B, records
   * whose key was destroyed; without this member they are not selected.
   */
  contentLeftOut?: readonly string[] | undefined
}

/** A range of the log: from the first index, inclusive, to the last, exclusive. */
export interface LogIndexRange {
  from: number
  to: number
}

/** A log entry with its selected records, unprocessed. */
export interface SelectedEntry {
  logIndex: number
  /** Undefined if somebody deleted it. */
  seal: StoredSeal | undefined
  /** Undefined if the records must be read row by row, because they are large or were edited. */
  texts: SelectedTexts | undefined
}

/** Records of one seal in leaf order. */
export interface SelectedTexts {
  leafIndexes: number[]
  canonical: string[]
  /** 16 bytes for each record. */
  salts: Uint8Array
  /** 64 hexadecimal digits for each record. */
  hashes: string
}

/** The record behind which reading row by row continues. */
export interface RowPosition {
  logIndex: number
  leafIndex: number
  recordId: string
}

export interface SelectedRows {
  rows: (SealedRow & { log_index: number })[]
  seals: Map<string, StoredSeal>
  /** The seal ids of the entries in the log, by index. */
  sealIds: Map<number, string>
  /** The position for the rest; undefined if all was read. */
  next: RowPosition | undefined
}

/** A record with its proof. */
export interface ProvenRecord {
  leafIndex: number
  /** The stored text. */
  canonical: string
  /** The members of the text, or the API form if somebody turned the text into something that is not a record. */
  members: JsonObject
  /** The hash in its API form. */
  provenanceHash: string
  provenanceCosign: string
  /** The JSON of the API; absent if it is the text with the added members. */
  answer?: string
}

/** Reads stored records by their place in the tenant's log. */
export interface SealedRecords {
  /**
   * Returns the stored records of the entries, including purged ones, and their seals. At most 500 entries per call.
   */
  ofEntries(tx: TenantTx, entries: readonly LogEntry[]): Promise<RecordsOfEntries>
  /** Returns the records as JSON in their API form, in the given order. */
  answers(tenantId: string, found: RecordsOfEntries): string[]

  /** Returns the range of a log of that size that can contain records of the filter, by the times of its seals. */
  spanOf(tx: TenantTx, filter: RecordFilter, treeSize: number): Promise<LogIndexRange>
  /** Returns the number of records that were sealed in a range of the log. Missing seals do not count. */
  countLeaves(tx: TenantTx, span: LogIndexRange): Promise<number>
  /**
   * Returns the selected records of a range of the log in log order, by the fastest method. Ends early, but not before
   * the first entry, if the texts exceed the size of a page. Entries that are absent before the last returned one are
   * absent in the log.
   */
  selectedEntries(tx: TenantTx, span: LogIndexRange, selection: RecordSelection): Promise<SelectedEntry[]>
  /** Returns the records of such an entry, with its stored seal; undefined if they must be read row by row. */
  provenRecords(
    entry: SelectedEntry,
    withCosign: boolean,
    recordTypes: RecordSelection['recordTypes'],
  ): ProvenRecord[] | undefined
  /** Returns the selected records row by row, with everything that verification needs. Ends early if a page is full. */
  selectedRows(
    tx: TenantTx,
    span: LogIndexRange,
    selection: RecordSelection,
    after: RowPosition | undefined,
  ): Promise<SelectedRows>
  /** Returns the signed note of a seal, which is its leaf in the log; undefined if somebody made the seal invalid. */
  noteOf(seal: StoredSeal, logName: string): string | undefined
  /** Returns the proven records in the order of the rows. */
  provenRows(tenantId: string, found: Pick<SelectedRows, 'rows' | 'seals'>): ProvenRecord[]
}
