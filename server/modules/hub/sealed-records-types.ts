import type { RecordFilter } from '../../../contract/record-filter.ts'
import type { JsonObject } from '../../../provenance/index.ts'
import type { TenantTx } from '../../db/database.ts'
import type { LogEntry } from '../log/log-types.ts'
import type { StoredRecord, StoredSeal } from './record-query-types.ts'

/** A stored record without its seal, which is read once for all of its records. */
export type SealedRow = Omit<StoredRecord, 'key_id' | 'sealed_at' | 'leaves_bytes' | 'cosign_parts' | 'leaves'>

export interface RecordsOfEntries {
  /** Of all the entries, in the order of the log: by entry, then by place in the seal. Erased ones are missing. */
  records: SealedRow[]
  /** By id. One that is missing was deleted by somebody. */
  seals: Map<string, StoredSeal>
}

/** Which records are taken. Purged ones never are. */
export interface RecordSelection {
  filter: RecordFilter
  /** No others, whatever the filter says. */
  recordTypes: readonly string[]
}

/** Part of the log: from the first index to the one behind the last. */
export interface LogSpan {
  from: number
  to: number
}

/** A log entry with the records that a selection takes of it, as they come from the store. */
export interface SelectedEntry {
  logIndex: number
  /** Undefined where somebody deleted it. */
  seal: StoredSeal | undefined
  /** Undefined where the records have to be read row by row: they are large, or something about them was edited. */
  texts: SelectedTexts | undefined
}

/** Records of one seal in the order of their leaves. */
export interface SelectedTexts {
  leafIndexes: number[]
  canonical: string[]
  /** 16 bytes for each record. */
  salts: Uint8Array
  /** 64 hexadecimal digits for each record. */
  hashes: string
}

/** Where reading row by row goes on: behind this record. */
export interface RowPosition {
  logIndex: number
  leafIndex: number
  recordId: string
}

export interface SelectedRows {
  rows: (SealedRow & { log_index: number })[]
  seals: Map<string, StoredSeal>
  /** Of the entries that are in the log: by index, the id of the seal. */
  sealIds: Map<number, string>
  /** Behind what was read, unless that was all. */
  next: RowPosition | undefined
}

/** A record with what proves it. */
export interface ProvenRecord {
  leafIndex: number
  /** The stored text. */
  canonical: string
  /** What the text says; or what the API answers where somebody made of it what is no record. */
  members: JsonObject
  /** As the API has it. */
  provenanceHash: string
  provenanceCosign: string
  /** The JSON that the API answers; absent where it is the text with the members that are added to it. */
  answer?: string
}

/** Stored records by where they stand in the tenant's log. */
export interface SealedRecords {
  /** The records under those entries that are stored, purged ones too, and their seals. At most 500 entries at once. */
  ofEntries(tx: TenantTx, entries: readonly LogEntry[]): Promise<RecordsOfEntries>
  /** Each record as the API answers it, in JSON, in the order of the records. */
  answers(tenantId: string, found: RecordsOfEntries): string[]

  /** The part of a log of that size that can hold records of the filter, by the times of its seals. */
  spanOf(tx: TenantTx, filter: RecordFilter, treeSize: number): Promise<LogSpan>
  /** How many records were sealed under a part of the log, as far as its seals are there. */
  countLeaves(tx: TenantTx, span: LogSpan): Promise<number>
  /**
   * The selected records of a part of the log by the fastest way, in the order of the log. It ends early, but not before
   * its first entry, where the texts are more than a page should hold. Entries that are missing from it before its last
   * are missing in the log.
   */
  selectedEntries(tx: TenantTx, span: LogSpan, selection: RecordSelection): Promise<SelectedEntry[]>
  /** The records of such an entry, with its seal as it is stored; undefined where they have to be read row by row. */
  provenRecords(
    entry: SelectedEntry,
    withCosign: boolean,
    recordTypes: RecordSelection['recordTypes'],
  ): ProvenRecord[] | undefined
  /** The same row by row, with all that verification takes. It ends early where a page is full. */
  selectedRows(
    tx: TenantTx,
    span: LogSpan,
    selection: RecordSelection,
    after: RowPosition | undefined,
  ): Promise<SelectedRows>
  /** The signed note of a seal, which the log has as a leaf; undefined where somebody made of the seal what is none. */
  noteOf(seal: StoredSeal, logName: string): string | undefined
  /** In the order of the rows. */
  provenRows(tenantId: string, found: Pick<SelectedRows, 'rows' | 'seals'>): ProvenRecord[]
}
