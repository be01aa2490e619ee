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

/** Stored records by where they stand in the tenant's log. */
export interface SealedRecords {
  /** The records under those entries that are stored, purged ones too, and their seals. At most 500 entries at once. */
  ofEntries(tx: TenantTx, entries: readonly LogEntry[]): Promise<RecordsOfEntries>
  /** Each record as the API answers it, in JSON, in the order of the records. */
  answers(tenantId: string, found: RecordsOfEntries): string[]
}
