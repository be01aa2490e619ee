import type { KeyDocument } from '../keys.ts'

/** The document beside an export file that proves it; docs/provenance-log.md specifies it. */
export type ExportManifest = {
  readonly manifest_version: 1
  readonly export: {
    readonly job_id: string
    readonly created_at: string
    readonly format: 'jsonl' | 'csv' | 'parquet'
    readonly compression: 'gzip' | null
    /** The members of the Hub query. */
    readonly filter: { readonly [member: string]: string | number | boolean | readonly string[] }
    /** The record types that the requester may see. */
    readonly record_types: readonly string[]
    readonly include_provenance: boolean
    /** The types whose rows may have the member `content_omitted`, with the hash of their record but not its content. */
    readonly content_omitted?: readonly string[]
  }
  readonly log: {
    readonly name: string
    /** The range of the log that the export covers: from the first index to the index after the last. */
    readonly from: number
    readonly to: number
    readonly tree_size: number
    /** Signed note of the log with `tree_size` leaves (C2SP tlog-checkpoint). */
    readonly checkpoint: string
    /** Roots, in base64, of the complete subtrees before and behind the range, from left to right. */
    readonly left: readonly string[]
    readonly right: readonly string[]
  }
  readonly file: {
    readonly name: string
    /** Size of the file as downloaded, after compression if any. */
    readonly size_bytes: number
    /** 64 hexadecimal digits. */
    readonly sha256: string
    readonly rows: number
  }
  /**
   * Numbers of records under the range. `left_out` counts those that filter, types or purges excluded, and erased ones.
   */
  readonly counts: { readonly exported: number; readonly left_out: number }
  readonly keys: KeyDocument
  /**
   * SHA-256, in hexadecimal, of the JCS of each element of `seals`, each followed by \n. Present only with provenance.
   */
  readonly seals_sha256?: string
  /** A signed note over the JCS of all members but this one and `seals`, see {@link exportStatementText}. */
  readonly statement: string
  /**
   * One element for each log entry of the range, in order. Present only with provenance: rows without it cannot be
   * placed.
   */
  readonly seals?: readonly ManifestSeal[]
}

/**
 * One log entry of the range, in one of three forms:
 *
 * - For a seal with a record in the file: `seal_id`, and the leaves without a row, in base64, by their index. The
 * cosignatures of the rows contain the rest of the seal.
 * - For a seal without a record in the file: the seal's whole signed note.
 * - `leaf`, in base64: the seal is in the log, but the store has lost it.
 */
export type ManifestSeal =
  | { readonly seal_id: string; readonly blinded?: { readonly [leafIndex: string]: string } }
  | { readonly note: string }
  | { readonly leaf: string }

/** Returns the text to sign for a manifest. `headSha256` is 64 hexadecimal digits. */
export function exportStatementText(logName: string, jobId: string, headSha256: string): string {
  return `orghub/export/v1\nlog ${logName}\nexport ${jobId}\nhead ${headSha256}\n`
}
