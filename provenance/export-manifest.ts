import type { KeyDocument } from './keys.ts'

/** What stands beside the file of an export and proves it; docs/provenance.md specifies it. */
export type ExportManifest = {
  readonly manifest_version: 1
  readonly export: {
    readonly job_id: string
    readonly created_at: string
    readonly format: 'jsonl' | 'csv' | 'parquet'
    readonly compression: 'gzip' | null
    /** Members of the Hub query. */
    readonly filter: { readonly [member: string]: string | readonly string[] }
    /** Types that the one who ordered it may see. */
    readonly record_types: readonly string[]
    readonly include_provenance: boolean
  }
  readonly log: {
    readonly name: string
    /** The range of the log that it covers: from the first index to the one behind the last. */
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
    /** Of the file as it is downloaded, compressed where it is. */
    readonly size_bytes: number
    /** 64 hexadecimal digits. */
    readonly sha256: string
    readonly rows: number
  }
  /** Records under the range: those in the file, and those that filter, types or purges left out, or that are erased. */
  readonly counts: { readonly exported: number; readonly left_out: number }
  readonly keys: KeyDocument
  /** SHA-256, in hexadecimal, of the JCS of each element of `seals`, each followed by \n; only with provenance. */
  readonly seals_sha256?: string
  /** A signed note over the JCS of all members but this one and `seals`, see {@link exportStatementText}. */
  readonly statement: string
  /** One for each log entry of the range, in order; only with provenance, without which rows cannot be placed. */
  readonly seals?: readonly ManifestSeal[]
}

/**
 * - With a record in the file: `seal_id`, and the leaves that no row stands for, in base64, by their index. All else
 *   about the seal is in the cosignatures of its rows.
 * - With none: the seal's whole signed note.
 * - `leaf`, in base64: the seal is in the log, and the store has lost it.
 */
export type ManifestSeal =
  | { readonly seal_id: string; readonly blinded?: { readonly [leafIndex: string]: string } }
  | { readonly note: string }
  | { readonly leaf: string }

/** The signed text over a manifest: its head is 64 hexadecimal digits. */
export function exportStatementText(logName: string, jobId: string, headSha256: string): string {
  return `orghub/export/v1\nlog ${logName}\nexport ${jobId}\nhead ${headSha256}\n`
}
