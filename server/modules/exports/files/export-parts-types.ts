import type { StoredSeal } from '../../hub/records/record-query-types.ts'
import type { ProvenRecord } from '../../hub/sealing/sealed-records-types.ts'
import type { Verification } from '../../hub/verification/verification-types.ts'

/** What an export has of one entry of the log, or of a part of it where its records are many megabytes. */
export interface EntryPart {
  logIndex: number
  /** Undefined where somebody deleted it. */
  seal: StoredSeal | undefined
  /** Of the tree of the log; read only where it may be needed: without records, or without the seal. */
  logLeaf: Uint8Array | undefined
  records: readonly ExportedRecord[]
  /** No further part of the entry follows. */
  isLast: boolean
}

/** A row to be. */
export type ExportedRecord = ProvenRecord & { verification?: Verification }

/** Parts in the order of the log. */
export type PartPages = AsyncIterable<readonly EntryPart[]>
