import type { Readable } from 'node:stream'
import type { Static } from 'typebox'
import type { ExportFilter } from '../../../contract/export-filter.ts'
import type { Tenant } from '../../http/caller.ts'
import type { RecordSelection } from '../sealing/sealed-records-types.ts'
import type { EvidencePackBody, ExportBody, ExportSchema } from './exports-schemas.ts'

/** The body of a request after validation; its schema states the defaults. */
export type NewExport = Static<typeof ExportBody>
export type NewEvidencePack = Static<typeof EvidencePackBody>
/** An export in the form of the API. */
export type ExportResponse = Static<typeof ExportSchema>
export type ExportFormat = ExportResponse['format']

/** The request of an evidence pack beyond its period, which is the filter of its order. */
export interface PackRequest {
  note: string | null
  includeContent: boolean
}

export interface ExportRequest {
  jobId: string
  format: ExportFormat
  compression: 'gzip' | null
  filter: ExportFilter
  /** The requested types, or all; its creator may read them. */
  recordTypes: readonly string[]
  /** Absent for an export. */
  pack?: PackRequest | undefined
  verify: boolean
  includeProvenance: boolean
  createdBy: string
  /** RFC 3339, UTC, six fractional digits. */
  createdAt: string
}

/** An order of a file with one row per record. */
export type RecordFileOrder = Omit<ExportRequest, 'pack'> & {
  contentLeftOut?: RecordSelection['contentLeftOut']
  /** The types whose rows may lack content, as the manifest states. */
  mayOmit?: readonly string[]
}

export interface ExportFileNames {
  file: string
  /** Absent for an evidence pack, which contains its manifest. */
  manifest?: string
}

/** The result of writing an export. */
export interface WrittenExport {
  rows: number
  sizeBytes: number
  /** Null unless verification was requested. */
  verificationSummary: NonNullable<ExportResponse['verification_summary']> | null
}

/**
 * Reports progress: rows written, rows expected, and the completed share of the log (0 to 1; default: that of the
 * rows).
 */
export type ExportProgress = (done: number, total: number, share?: number) => Promise<void>

/** Writes the files of an export; the job around it keeps the state. */
export interface ExportWriter {
  /**
   * Writes file and manifest into the storage, in bounded memory and in short transactions, and replaces files of an
   * earlier attempt. It skips purged records.
   *
   * @throws the reason of the signal once it fires; DomainError
   */
  write(
    tenant: Tenant,
    order: ExportRequest,
    options: {
      signal: AbortSignal
      progress: ExportProgress
      /** Called before all files together exceed the bytes that the last call returned. Its error fails the export. */
      reserve?: ((bytes: number) => Promise<number>) | undefined
    },
  ): Promise<WrittenExport>
  fileNames(order: Pick<ExportRequest, 'jobId' | 'format' | 'compression' | 'pack'>): ExportFileNames
  /** Returns the storage key of a file of an export. */
  keyOf(tenant: string, jobId: string, fileName: string): string
}

/** The parts of a signed address in a request. */
export interface DownloadRequest {
  jobId: string
  fileName: string
  tenant: string | undefined
  expires: string | undefined
  signature: string | undefined
}

/** A part of a file, both ends included. */
export interface ByteRange {
  start: number
  end: number
}

export interface Download {
  tenant: Tenant
  jobId: string
  fileName: string
  contentType: string
  sizeBytes: number
  /** A strong entity tag. */
  etag: string
  read(range?: ByteRange): Promise<Readable>
}
