import type { StoredSeal } from '../../../records/record-rows.ts'
import type { ProvenRecord } from '../../sealing/sealed-records-types.ts'
import type { Verification } from '../../verification/verification-types.ts'

/** The exported data of one log entry, or of a part of it if its records have many megabytes. */
export interface EntryPart {
  logIndex: number
  /** Undefined if somebody deleted it. */
  seal: StoredSeal | undefined
  /** The leaf in the tree of the log; read only if it may be needed: without records, or without the seal. */
  logLeaf: Uint8Array | undefined
  records: readonly ExportedRecord[]
  /** Whether no further part of the entry follows. */
  isLast: boolean
}

/** A future row. */
export type ExportedRecord = ProvenRecord & { verification?: Verification }

/** Pages of parts in the order of the log. */
export type PartPages = AsyncIterable<readonly EntryPart[]>
