import { type ProblemSlug, problems } from '../../../contract/problems.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Tenant } from '../../http/caller.ts'
import type { DownloadUrls } from './download-url.ts'
import type { ExportRow } from './exports-store.ts'
import type { ExportFileNames, ExportResponse } from './exports-types.ts'

/**
 * Converts an export to its response. An expired export shows as expired at once, regardless of when its files are
 * deleted.
 */
export function toExportResponse(
  tenant: Tenant,
  row: ExportRow,
  context: { now: string; names: ExportFileNames; urls: DownloadUrls },
): ExportResponse {
  const { names, urls, now } = context
  const isOpen = isDownloadable(row, now)
  const url = (fileName: string) =>
    urls.sign(tenant, { jobId: row.job_id, fileName, expiresAt: row.expires_at as string })
  return {
    job_id: row.job_id,
    status: row.status === 'completed' && !isOpen ? 'expired' : row.status,
    format: row.format,
    created_at: row.created_at,
    estimated_completion_ts: row.estimated_completion_at,
    progress: { done: row.done, total: row.total },
    ...(isOpen && { download_url: url(names.file) }),
    ...(isOpen && names.manifest !== undefined && { manifest_url: url(names.manifest) }),
    ...(row.pack && { evidence_pack: packOf(row) }),
    ...(row.verification_summary && { verification_summary: row.verification_summary }),
    ...(row.error && { error: problemOf(tenant, row.error) }),
  }
}

function packOf({ filter, pack }: ExportRow): NonNullable<ExportResponse['evidence_pack']> {
  const { created_at__gte: from = '', created_at__lt: to = '' } = filter
  return { from, to, ...(pack?.note && { note: pack.note }), include_content: pack?.includeContent ?? false }
}

export function isDownloadable(row: Pick<ExportRow, 'status' | 'expires_at'>, now: string): boolean {
  return row.status === 'completed' && row.expires_at !== null && now < row.expires_at
}

/**
 * Formats a time.
 *
 * @param micros microseconds since 1970
 */
export function timeAt(micros: number): string {
  const epochMs = Math.floor(micros / 1000)
  return formatTimestamp(epochMs, Math.floor(micros - epochMs * 1000))
}

function problemOf(tenant: Tenant, { slug, detail }: { slug: string; detail: string }) {
  return { type: `${tenant.baseUrl}/errors/${slug}`, title: problems[slug as ProblemSlug].title, detail }
}
