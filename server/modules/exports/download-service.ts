import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { DomainError } from '../../../contract/domain-error.ts'
import { readTenant } from '../../db/database.ts'
import { isServedAt, type Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Storage } from '../../storage/storage.ts'
import { type DownloadUrls, secondOf } from './download-url.ts'
import type { ExportEncryption } from './export-encryption.ts'
import { isDownloadable } from './export-response.ts'
import { type ExportRow, findExport, orderOf } from './exports-store.ts'
import type {
  ByteRange,
  Download,
  DownloadRequest,
  ExportFormat,
  ExportRequest,
  ExportWriter,
} from './exports-types.ts'

const contentTypes: Record<ExportFormat, string> = {
  jsonl: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  parquet: 'application/vnd.apache.parquet',
}
const minuteMicros = 60_000_000
const notedMax = 10_000

export type Downloads = ReturnType<typeof createDownloads>

/** Opens downloads by their signed addresses. */
export function createDownloads(
  deps: Pick<ModuleParts, 'database' | 'clock' | 'governance' | 'directory'> & {
    storage: Storage
    encryption: Pick<ExportEncryption, 'forReading'>
    writer: Pick<ExportWriter, 'fileNames' | 'keyOf'>
    urls: DownloadUrls
  },
) {
  const { database, clock, storage, writer } = deps
  /** The time until which further parts for the same address belong to an earlier event. */
  const noted = new LRUCache<string, number>({ max: notedMax })

  async function signedExport(request: DownloadRequest, hostTenant: Tenant | null) {
    const { tenant: slug = '', expires, jobId, fileName } = request
    if (!deps.urls.isSigned(request)) return undefined
    const tenant = await deps.directory.find(slug)
    if (!tenant || !isServedAt(hostTenant?.slug, tenant)) return undefined
    const row = await readTenant(database, slug, (tx) => findExport(tx, jobId))
    if (row?.status === 'expired' && row.error) throw invalidUrl(row.error.detail)
    if (!row || !isDownloadable(row, clock.next().createdAt)) return undefined
    if (row.expires_at === null || String(secondOf(row.expires_at)) !== expires) return undefined
    const key = writer.keyOf(slug, jobId, fileName)
    const files = await deps.encryption.forReading(tenant, jobId, storage, key)
    // The file may have been deleted meanwhile, for example by the erasure of a record in it.
    const sizeBytes = await files.size(key)
    return sizeBytes === undefined ? undefined : { tenant, row, key, files, sizeBytes }
  }

  return {
    /** Opens a download. Throws `invalid-download-url`, always with the same text. */
    async open(request: DownloadRequest, hostTenant: Tenant | null): Promise<Download> {
      const found = await signedExport(request, hostTenant)
      if (!found) throw invalidUrl()
      const { tenant, row, key, files, sizeBytes } = found
      const { jobId, fileName } = request
      return {
        tenant,
        jobId,
        fileName,
        contentType: contentTypeOf(orderOf(row), fileName, writer),
        sizeBytes,
        etag: entityTag(row, fileName, sizeBytes),
        async read(range) {
          const content = await files.read(key, range)
          if (!content) throw invalidUrl()
          return content
        },
      }
    },

    /** Writes `hub.export_downloaded`: for each whole file, and for parts once a minute per file and address. */
    async note(
      { tenant, jobId, fileName, sizeBytes }: Download,
      range: ByteRange | undefined,
      { address, requestId }: { address: string; requestId: string },
    ): Promise<void> {
      const key = JSON.stringify([tenant.slug, jobId, fileName, address])
      const part = range && (range.start > 0 || range.end < sizeBytes - 1) ? range : undefined
      if (part) {
        const { micros } = clock.next()
        if (micros < (noted.get(key) ?? 0)) return
        noted.set(key, micros + minuteMicros)
      }
      const extent = part ? { first_range: `bytes=${part.start}-${part.end}` } : { bytes: sizeBytes }
      try {
        await database.withTenant(tenant.slug, (tx) =>
          deps.governance.append(tx, tenant, {
            kind: 'hub.export_downloaded',
            subject: `export:${jobId}`,
            details: { file: fileName, ...extent },
            actor: { subject: 'download-url', clientId: '', address, requestId },
          }),
        )
      } catch (error) {
        if (part) noted.delete(key)
        throw error
      }
    },
  }
}

function contentTypeOf(order: ExportRequest, fileName: string, writer: Pick<ExportWriter, 'fileNames'>): string {
  if (fileName === writer.fileNames(order).manifest) return 'application/json; charset=utf-8'
  // The file itself is compressed, so this is its type and no content encoding: it is stored under its name.
  return order.compression === 'gzip' || order.pack !== undefined ? 'application/gzip' : contentTypes[order.format]
}

/**
 * Returns the entity tag. The files of a completed export never change; another attempt would have another completion
 * time.
 */
function entityTag(row: ExportRow, fileName: string, sizeBytes: number): string {
  const content = JSON.stringify([row.job_id, row.attempt, row.completed_at, fileName, sizeBytes])
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`
}

/** @param detail for a valid signature whose export ended early */
function invalidUrl(
  detail = 'This address is invalid or has expired. Get the export for its current address.',
): DomainError {
  return new DomainError('invalid-download-url', detail)
}
