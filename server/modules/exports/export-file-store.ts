import type { DatabaseLog } from '../../db/database.ts'
import type { Storage } from '../../storage/storage.ts'
import type { ExportOrder, ExportWriter } from './exports-types.ts'

/** Deletes the files of exports from the storage. */
export interface ExportFileStore {
  /** Deletes the files of an export. */
  remove(tenant: string, order: ExportOrder): Promise<void>
  /** Deletes them in the background. The hourly chore repeats failed deletions. */
  removeSoon(tenant: string, order: ExportOrder): void
  /** Resolves when no deletion is running. */
  settled(): Promise<void>
}

export function createExportFileStore(deps: {
  storage: Storage
  writer: Pick<ExportWriter, 'fileNames' | 'keyOf'>
  log: DatabaseLog
}): ExportFileStore {
  const { storage, writer } = deps
  const removals = new Set<Promise<void>>()

  async function remove(tenant: string, order: ExportOrder): Promise<void> {
    const { file, manifest } = writer.fileNames(order)
    const key = writer.keyOf(tenant, order.jobId, file)
    // Deletes by name first, because that includes unfinished writes; then deletes the rest of the folder.
    await storage.delete(key)
    await storage.delete(writer.keyOf(tenant, order.jobId, manifest))
    for await (const other of storage.list(key.slice(0, -file.length))) await storage.delete(other)
  }

  return {
    remove,
    removeSoon(tenant, order) {
      const removal = remove(tenant, order)
        .catch((error: unknown) =>
          deps.log.warn({ err: error, export: order.jobId }, 'files of an export are deleted later'),
        )
        .finally(() => removals.delete(removal))
      removals.add(removal)
    },
    settled: async () => {
      await Promise.all(removals)
    },
  }
}
