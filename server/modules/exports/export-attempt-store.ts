import type { TenantTx } from '../../db/database.ts'
import type { ExportRow } from './exports-store.ts'
import type { WrittenExport } from './exports-types.ts'

/** One attempt to write an export. Only the latest attempt changes the export, and only while the export runs. */
export interface Attempt {
  jobId: string
  attempt: number
}

/**
 * Starts the next attempt of an export that waits, or whose last attempt died; returns undefined for an ended export.
 */
export async function beginAttempt(
  tx: TenantTx,
  jobId: string,
  now: string,
): Promise<Pick<ExportRow, 'attempt' | 'tries'> | undefined> {
  const { rows } = await tx.client.query<Pick<ExportRow, 'attempt' | 'tries'>>(
    `update hub.exports
     set status = 'running', attempt = attempt + 1, tries = tries + 1, started_at = $3, done = 0, total = 0,
       has_files = true, size_bytes = null
     where tenant_id = $1 and job_id = $2 and status in ('queued', 'running')
     returning attempt, tries`,
    [tx.tenantId, jobId, now],
  )
  return rows[0]
}

/** Saves the progress; returns whether the attempt still counts. */
export async function saveProgress(
  tx: TenantTx,
  { jobId, attempt }: Attempt,
  progress: { done: number; total: number; estimatedCompletionAt: string },
): Promise<boolean> {
  const { rowCount } = await tx.client.query(
    `update hub.exports set done = $4, total = $5, estimated_completion_at = $6
     where tenant_id = $1 and job_id = $2 and attempt = $3 and status = 'running'`,
    [tx.tenantId, jobId, attempt, progress.done, progress.total, progress.estimatedCompletionAt],
  )
  return rowCount === 1
}

/**
 * Reserves this many bytes for a file, instead of the attempt's former reservation. Returns whether the attempt still
 * counts.
 */
export async function reserveBytes(tx: TenantTx, { jobId, attempt }: Attempt, bytes: number): Promise<boolean> {
  const { rowCount } = await tx.client.query(
    `update hub.exports set size_bytes = $4
     where tenant_id = $1 and job_id = $2 and attempt = $3 and status = 'running'`,
    [tx.tenantId, jobId, attempt, bytes],
  )
  return rowCount === 1
}

/**
 * Makes the export wait for another attempt. An attempt that the worker stopped does not count as a try. Returns
 * whether the attempt still counted.
 */
export async function giveUpAttempt(
  tx: TenantTx,
  { jobId, attempt }: Attempt,
  { counts }: { counts: boolean },
): Promise<boolean> {
  const { rowCount } = await tx.client.query(
    `update hub.exports set status = 'queued', tries = tries - $4
     where tenant_id = $1 and job_id = $2 and attempt = $3 and status = 'running'`,
    [tx.tenantId, jobId, attempt, counts ? 0 : 1],
  )
  return rowCount === 1
}

/** Completes the export; returns whether the attempt still counted. */
export async function completeExport(
  tx: TenantTx,
  { jobId, attempt }: Attempt,
  written: WrittenExport & { completedAt: string; expiresAt: string },
): Promise<boolean> {
  const { rowCount } = await tx.client.query(
    `update hub.exports
     set status = 'completed', done = $4, total = $4, completed_at = $5, estimated_completion_at = $5, expires_at = $6,
       size_bytes = $7, verification_summary = $8
     where tenant_id = $1 and job_id = $2 and attempt = $3 and status = 'running'`,
    [
      tx.tenantId,
      jobId,
      attempt,
      written.rows,
      written.completedAt,
      written.expiresAt,
      written.sizeBytes,
      written.verificationSummary && JSON.stringify(written.verificationSummary),
    ],
  )
  return rowCount === 1
}

/** Marks the export as failed; returns whether the attempt still counted. */
export async function failExport(
  tx: TenantTx,
  { jobId, attempt }: Attempt,
  error: { slug: string; detail: string },
): Promise<boolean> {
  const { rowCount } = await tx.client.query(
    `update hub.exports set status = 'failed', error = $4
     where tenant_id = $1 and job_id = $2 and attempt = $3 and status in ('queued', 'running')`,
    [tx.tenantId, jobId, attempt, JSON.stringify(error)],
  )
  return rowCount === 1
}
