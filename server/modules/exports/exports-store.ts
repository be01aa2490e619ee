import type { ExportFilter } from '../../../contract/export-filter.ts'
import { canonicalize } from '../../../provenance/index.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import { exportsLockClass } from '../../db/advisory-locks.ts'
import type { TenantTx } from '../../db/database.ts'
import type { ProofRules } from '../../db/row-proofs.ts'
import type { TenantTables } from '../../db/schema.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import type { ExportFormat, ExportRequest, ExportResponse, PackRequest, WrittenExport } from './exports-types.ts'

type Columns = Omit<
  TenantTables['hub.exports'],
  'tenant_id' | 'status' | 'format' | 'compression' | 'filter' | 'pack' | 'verification_summary' | 'error'
>

export interface ExportRow extends Columns {
  status: ExportResponse['status']
  format: ExportFormat
  compression: 'gzip' | null
  filter: ExportFilter
  pack: PackRequest | null
  verification_summary: WrittenExport['verificationSummary']
  error: { slug: string; detail: string } | null
}

export function orderOf(row: ExportRow): ExportRequest {
  return {
    jobId: row.job_id,
    format: row.format,
    compression: row.compression,
    filter: row.filter,
    recordTypes: row.record_types,
    pack: row.pack ?? undefined,
    verify: row.verify,
    includeProvenance: row.include_provenance,
    createdBy: row.created_by,
    createdAt: row.created_at,
  }
}

/** A stored row. Its filter contains the proof of the request beside its own members. */
type StoredExport = Omit<ExportRow, 'filter'> & { filter: ExportRow['filter'] & { proof?: string } }

/**
 * The bound fields of a request, which decides the exported records and their readers. Progress and times are not
 * bound.
 */
const exportOrders: ProofRules<ExportRequest> = {
  table: 'hub.exports',
  fields: (order) => [
    order.jobId,
    order.format,
    order.compression,
    canonicalize(order.filter as JsonValue),
    order.recordTypes,
    order.verify,
    order.includeProvenance,
    order.createdBy,
    // Requests from before there were packs keep their proof.
    ...(order.pack === undefined ? [] : [order.pack.note, order.pack.includeContent]),
  ],
  subject: ({ jobId }) => `export:${jobId}`,
}

/** Returns the filter of a request with its proof, as JSON for storage. */
function filterWithProof(tx: TenantTx, order: ExportRequest): string {
  const proof = tx.proofs.of(exportOrders, tx.tenantId, order).toString('base64url')
  return JSON.stringify({ ...order.filter, proof })
}

/** Returns the export if its proof holds. Reports it otherwise, and returns undefined as if it did not exist. */
function soundExport(tx: TenantTx, stored: StoredExport | undefined): ExportRow | undefined {
  if (stored === undefined) return undefined
  const { proof = '', ...filter } = stored.filter
  const row = { ...stored, filter }
  const order = { ...orderOf(row), proof: Buffer.from(proof, 'base64url') }
  return tx.proofs.sound(exportOrders, tx.tenantId, order) && row
}

const columns = `job_id, status, format, compression, filter, record_types, pack, verify, include_provenance,
  created_by, created_at, estimated_completion_at, attempt, tries, done, total, started_at, completed_at, expires_at, size_bytes,
  has_files, verification_summary, error`

/** Serialises the requests of a tenant, so that each sees the number of the others. */
export async function lockOrders(tx: TenantTx): Promise<void> {
  await lockTenant(tx, exportsLockClass)
}

/** Counts exports that wait or run. */
export async function countOpen(tx: TenantTx): Promise<number> {
  const { rows } = await tx.client.query<{ count: number }>(
    `select count(*)::int as count from hub.exports where tenant_id = $1 and status in ('queued', 'running')`,
    [tx.tenantId],
  )
  return rows[0]!.count
}

/**
 * Returns the number of exports requested within a day, and the bytes of files that can be downloaded or are being
 * written. A running export counts its reservation.
 */
export async function exportUse(
  tx: TenantTx,
  since: { dayAgo: string; keptSince: string },
  besides = '',
): Promise<{ ordered: number; firstOrderedAt: string | null; keptBytes: number; firstExpiresAt: string | null }> {
  const { rows } = await tx.client.query(
    `select count(*) filter (where created_at > $2)::int as ordered,
       min(created_at) filter (where created_at > $2) as "firstOrderedAt",
       coalesce(sum(size_bytes) filter (
         where has_files and status in ('queued', 'running', 'completed') and job_id <> $4), 0)::float8 as "keptBytes",
       min(expires_at) filter (where has_files and status = 'completed') as "firstExpiresAt"
     from hub.exports where tenant_id = $1 and created_at > $3`,
    [tx.tenantId, since.dayAgo, since.keptSince, besides],
  )
  return rows[0]!
}

export async function insertExport(
  tx: TenantTx,
  order: ExportRequest,
  estimatedCompletionAt: string,
): Promise<ExportRow> {
  const { rows } = await tx.client.query<StoredExport>(
    `insert into hub.exports (tenant_id, job_id, status, format, compression, filter, record_types, verify,
       include_provenance, created_by, created_at, estimated_completion_at, pack, attempt, tries, done, total, has_files)
     values ($1, $2, 'queued', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, 0, 0, 0, false)
     returning ${columns}`,
    [
      tx.tenantId,
      order.jobId,
      order.format,
      order.compression,
      filterWithProof(tx, order),
      order.recordTypes,
      order.verify,
      order.includeProvenance,
      order.createdBy,
      order.createdAt,
      estimatedCompletionAt,
      order.pack === undefined ? null : JSON.stringify(order.pack),
    ],
  )
  return soundExport(tx, rows[0])!
}

export async function findExport(tx: TenantTx, jobId: string): Promise<ExportRow | undefined> {
  const { rows } = await tx.client.query<StoredExport>(
    `select ${columns} from hub.exports where tenant_id = $1 and job_id = $2`,
    [tx.tenantId, jobId],
  )
  return soundExport(tx, rows[0])
}

/** `created_at` and `job_id` of the last export on the previous page. */
export type ExportPosition = readonly [createdAt: string, jobId: string]

/** Returns the next exports, the newest first, with only these types; in a transaction of `inIndexOrder`. */
export async function exportsBefore(
  tx: TenantTx,
  recordTypes: readonly string[],
  before: ExportPosition | undefined,
  count: number,
): Promise<ExportRow[]> {
  const { rows } = await tx.client.query<StoredExport>(
    `select ${columns} from hub.exports
     where tenant_id = $1 and record_types <@ $2::text[] ${before ? 'and (created_at, job_id) < ($4, $5)' : ''}
     order by created_at desc, job_id desc limit $3`,
    [tx.tenantId, recordTypes, count, ...(before ?? [])],
  )
  return rows.flatMap((row) => soundExport(tx, row) ?? [])
}

/** Cancels an export; returns whether it was still open. */
export async function markCancelled(tx: TenantTx, jobId: string): Promise<boolean> {
  const { rowCount } = await tx.client.query(
    `update hub.exports set status = 'cancelled'
     where tenant_id = $1 and job_id = $2 and status in ('queued', 'running')`,
    [tx.tenantId, jobId],
  )
  return rowCount === 1
}

/**
 * Ends exports that were read during the life of a record, with the error: downloadable ones expire, and running ones
 * fail.
 */
export async function endThoseOf(
  tx: TenantTx,
  life: { createdAt: string; purgedAt: string },
  now: string,
  error: { slug: string; detail: string },
): Promise<ExportRow[]> {
  const { rows } = await tx.client.query<ExportRow>(
    `update hub.exports set
       expires_at = case when status = 'completed' then $4::timestamptz end,
       error = $5::jsonb,
       status = case when status = 'completed' then 'expired' else 'failed' end
     where tenant_id = $1 and has_files and status in ('running', 'completed')
       and started_at <= $3 and (completed_at is null or completed_at >= $2)
     returning ${columns}`,
    [tx.tenantId, life.createdAt, life.purgedAt, now, JSON.stringify(error)],
  )
  return rows
}

export async function expireOverdue(tx: TenantTx, now: string): Promise<void> {
  await tx.client.query(
    `update hub.exports set status = 'expired'
     where tenant_id = $1 and has_files and status = 'completed' and expires_at <= $2`,
    [tx.tenantId, now],
  )
}

/** Returns open exports that were requested before a time. */
export async function openSince(tx: TenantTx, orderedBefore: string): Promise<ExportRow[]> {
  const { rows } = await tx.client.query<ExportRow>(
    `select ${columns} from hub.exports
     where tenant_id = $1 and status in ('queued', 'running') and created_at < $2 for update`,
    [tx.tenantId, orderedBefore],
  )
  return rows
}

/** Returns some ended exports that may still have files. */
export async function endedWithFiles(tx: TenantTx, count: number): Promise<ExportRow[]> {
  const { rows } = await tx.client.query<ExportRow>(
    `select ${columns} from hub.exports
     where tenant_id = $1 and has_files and status in ('failed', 'cancelled', 'expired') limit $2`,
    [tx.tenantId, count],
  )
  return rows
}

export async function markFilesGone(tx: TenantTx, jobIds: readonly string[]): Promise<void> {
  await tx.client.query('update hub.exports set has_files = false where tenant_id = $1 and job_id = any ($2::text[])', [
    tx.tenantId,
    jobIds,
  ])
}
