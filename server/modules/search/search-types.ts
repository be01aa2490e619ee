import type { TenantTx } from '../../db/database.ts'
import type { AnsweredRecord } from '../../records/record-rows.ts'

/** Returns rows for responses, with the remaining clear data of those whose content was destroyed with its key. */
export type AnswerableRows = (tx: TenantTx, rows: readonly AnsweredRecord[]) => Promise<readonly AnsweredRecord[]>

/** A record to index. */
export interface IndexedRecord {
  recordId: string
  recordType: string
  /** The canonical text, decrypted. */
  canonical: string
}
