import type { Tenant } from '../../../http/caller.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { ExportEncryption } from '../export-encryption.ts'
import type { ExportFileNames, ExportRequest, ExportWriter, WrittenExport } from '../exports-types.ts'
import { type RecordFilesDeps, writeRecordFiles } from './record-files.ts'
import { ReservedBytes } from './reserved-bytes.ts'

export interface ExportWriterDeps extends RecordFilesDeps {
  encryption: Pick<ExportEncryption, 'forWriting'>
}

export type WriteOptions = Parameters<ExportWriter['write']>[2]
type NamedOrder = Pick<ExportRequest, 'jobId' | 'format' | 'compression' | 'pack'>

/** Writes an evidence pack at the key of its order, into a storage that encrypts if the tenant requires it. */
export type PackWriter = (
  tenant: Tenant,
  order: ExportRequest,
  key: string,
  options: PackOptions,
) => Promise<WrittenExport>

export interface PackOptions {
  storage: Storage
  signal: AbortSignal
  progress: WriteOptions['progress']
  everyMs: number
  reserved: ReservedBytes
}

/** Milliseconds between two progress reports, each of which is a statement to the database. */
const progressMs = 500

/**
 * @param options.progressMs minimum milliseconds between two progress reports
 * @param options.packs writes evidence packs; required for their orders
 */
export function createExportWriter(
  deps: ExportWriterDeps,
  options: { progressMs?: number; packs?: PackWriter } = {},
): ExportWriter {
  const everyMs = options.progressMs ?? progressMs

  async function writeFiles(tenant: Tenant, order: ExportRequest, { signal, progress, reserve }: WriteOptions) {
    const keys = keysOf(tenant.slug, order)
    const storage = await deps.encryption.forWriting(tenant, order.jobId, deps.storage)
    const shared = { signal, progress, everyMs, reserved: new ReservedBytes(reserve) }
    if (order.pack === undefined) {
      const paths = { ...keys, name: fileNames(order).file }
      return writeRecordFiles({ ...deps, storage }, tenant, order, { ...shared, paths })
    }
    if (options.packs === undefined) throw new Error('this process writes no evidence packs')
    return options.packs(tenant, order, keys.file, { ...shared, storage })
  }

  return {
    fileNames,
    keyOf,
    async write(tenant, order, writing) {
      const keys = keysOf(tenant.slug, order)
      try {
        writing.signal.throwIfAborted()
        await removeAll(deps.storage, [keys.manifest, keys.seals])
        const { rows, sizeBytes, verificationSummary } = await writeFiles(tenant, order, writing)
        return { rows, sizeBytes, verificationSummary }
      } catch (error) {
        // The next attempt replaces remaining files, or the job deletes them.
        await removeAll(deps.storage, Object.values(keys)).catch(() => {})
        throw writing.signal.aborted ? writing.signal.reason : error
      }
    },
  }
}

function fileNames({ jobId, format, compression, pack }: NamedOrder): ExportFileNames {
  if (pack !== undefined) return { file: `${jobId}.tar.gz` }
  const file = `${jobId}.${format}${compression === 'gzip' ? '.gz' : ''}`
  return { file, manifest: `${file}.manifest.json` }
}

function keyOf(tenant: string, jobId: string, fileName: string): string {
  return `exports/${tenant}/${jobId}/${fileName}`
}

/** Returns the keys of all files of an export; the last one exists only during the write. */
function keysOf(tenant: string, order: NamedOrder) {
  const { file } = fileNames(order)
  const key = (name: string) => keyOf(tenant, order.jobId, name)
  return { file: key(file), manifest: key(`${file}.manifest.json`), seals: key(`${file}.seals`) }
}

async function removeAll(storage: Storage, keys: readonly string[]): Promise<void> {
  for (const key of keys) await storage.delete(key)
}
