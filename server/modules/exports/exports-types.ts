import type { RecordFilter } from '../../../contract/record-filter.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'

export type ExportFormat = 'jsonl' | 'csv' | 'parquet'
export type ExportStatus = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'expired'

/** What was asked for. */
export interface ExportOrder {
  jobId: string
  format: ExportFormat
  compression: 'gzip' | null
  filter: RecordFilter
  /** Those that its creator could see; others are left out. */
  recordTypes: readonly string[]
  verify: boolean
  includeProvenance: boolean
  createdBy: string
  /** RFC 3339, UTC, six fractional digits. */
  createdAt: string
}

/** Names of the files of an export. */
export interface ExportFileNames {
  file: string
  manifest: string
}

/** What writing an export made of it. */
export interface WrittenExport {
  rows: number
  sizeBytes: number
  /** Only where it was asked for. */
  verificationSummary: { checked: number; verified: number; tampered: number; cosign_invalid: number } | null
}

/** Writes the files of an export; the job around it keeps its state. */
export interface ExportWriter {
  /**
   * Writes file and manifest into the storage, in bounded memory and in transactions that are soon over, and replaces
   * what an earlier attempt has left. Purged records are left out.
   *
   * @param progress called now and then with the records done and the records that the range of the log holds
   * @throws the reason of the signal once it fires; DomainError
   */
  write(
    tenant: Tenant,
    order: ExportOrder,
    options: { signal: AbortSignal; progress(done: number, total: number): Promise<void> },
  ): Promise<WrittenExport>
  fileNames(order: Pick<ExportOrder, 'jobId' | 'format' | 'compression'>): ExportFileNames
  /** Where a file of an export is kept. */
  keyOf(tenant: string, jobId: string, fileName: string): string
}

/** What erasure asks of exports. */
export interface ExportExpiry {
  /** Exports that may hold a record that lived from `createdAt` to `purgedAt` end now; their files go after the commit. */
  expireHolding(tx: TenantTx, record: { createdAt: string; purgedAt: string }): Promise<void>
}
