import type { Readable } from 'node:stream'
import type { RecordFilter } from '../../../contract/record-filter.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'

export type ExportFormat = 'jsonl' | 'csv' | 'parquet'
export type ExportStatus = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'expired'

/** What was asked for. */
export interface ExportOrder {
  jobId: string
  format: ExportFormat
  compression: 'gzip' | null
  filter: RecordFilter
  /** Those that were asked for, or all; its creator could see them. */
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

/**
 * Hears now and then of the rows that are written, how many there will probably be, and which share of the log is
 * behind (0 to 1; that of the rows, if absent).
 */
export type ExportProgress = (done: number, total: number, share?: number) => Promise<void>

/** Writes the files of an export; the job around it keeps its state. */
export interface ExportWriter {
  /**
   * Writes file and manifest into the storage, in bounded memory and in transactions that are soon over, and replaces
   * what an earlier attempt has left. Purged records are left out.
   *
   * @throws the reason of the signal once it fires; DomainError
   */
  write(
    tenant: Tenant,
    order: ExportOrder,
    options: {
      signal: AbortSignal
      progress: ExportProgress
      /** Called before the file has more bytes than it last returned. Its error fails the export. */
      reserve?: ((bytes: number) => Promise<number>) | undefined
    },
  ): Promise<WrittenExport>
  fileNames(order: Pick<ExportOrder, 'jobId' | 'format' | 'compression'>): ExportFileNames
  /** Where a file of an export is kept. */
  keyOf(tenant: string, jobId: string, fileName: string): string
}

/** An export as the API answers it. */
export interface ExportAnswer {
  job_id: string
  status: ExportStatus
  format: ExportFormat
  created_at: string
  estimated_completion_ts: string
  progress: { done: number; total: number }
  download_url?: string
  manifest_url?: string
  verification_summary?: NonNullable<WrittenExport['verificationSummary']>
  error?: { type: string; title: string; detail: string }
}

/** The body of an order, as its schema lets it through; see the schema for what is assumed. */
export interface NewExport {
  filter?: RecordFilter & { tenant_id?: string }
  format?: ExportFormat
  compression?: 'gzip'
  verify?: boolean
  include_provenance?: boolean
}

/** Exports as those who order them see them: to whom an export shows a type that they may not read, it is not there. */
export interface Exports {
  /**
   * Throws `invalid-tenant` for the filter of another tenant, `insufficient-scope` where it covers a type that the
   * caller may not read, `rate-limited` when too many of the tenant are under way, `validation-failed`.
   */
  create(caller: Caller, order: NewExport): Promise<ExportAnswer>
  /** The newest first. */
  list(
    caller: Caller,
    page: { limit: number; cursor?: string | undefined },
  ): Promise<{ items: ExportAnswer[]; next_cursor: string | null }>
  /** Throws `not-found`. */
  get(caller: Caller, jobId: string): Promise<ExportAnswer>
  /** Throws `not-found`, and `concurrent-modification` for one that has ended otherwise. */
  cancel(caller: Caller, jobId: string): Promise<ExportAnswer>
}

/** What a caller with a signed address asks for. */
export interface DownloadRequest {
  jobId: string
  fileName: string
  tenant: string | undefined
  expires: string | undefined
  signature: string | undefined
}

/** A file of an export that may be downloaded. */
export interface Download {
  tenant: Tenant
  jobId: string
  fileName: string
  contentType: string
  sizeBytes: number
  /** Strong: these bytes and no others. */
  etag: string
  /** From `start` to `end`, both included. */
  read(range?: { start: number; end: number }): Promise<Readable>
}

export interface Downloads {
  /** Throws `invalid-download-url`, always in the same words. */
  open(request: DownloadRequest, hostTenant: Tenant | null): Promise<Download>
  /** Writes `hub.export_downloaded`: for each whole file, and for parts once a minute for a file and an address. */
  note(
    download: Download,
    range: { start: number; end: number } | undefined,
    by: { address: string; requestId: string },
  ): Promise<void>
}

/** What erasure asks of exports. */
export interface ExportExpiry {
  /**
   * Ends exports that may hold a record that lived from `createdAt` to `purgedAt`; their files go after the commit.
   *
   * @param reason a sentence for the export and its download addresses; defaults to the erasure of a record
   */
  expireHolding(tx: TenantTx, record: { createdAt: string; purgedAt: string }, reason?: string): Promise<void>
}
