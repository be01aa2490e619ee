import type { DatabaseLog } from '../../db/database.ts'
import type { Storage } from '../../storage/storage.ts'
import type { ExportRequest, ExportWriter } from './exports-types.ts'

interface FileStoreDeps {
  storage: Storage
  writer: Pick<ExportWriter, 'fileNames' | 'keyOf'>
  log: DatabaseLog
}

/** Deletes the files of exports from the storage. */
export class ExportFileStore {
  readonly #deps: FileStoreDeps
  readonly #removals = new Set<Promise<void>>()

  constructor(deps: FileStoreDeps) {
    this.#deps = deps
  }

  /** Deletes the files of an export. */
  async remove(tenant: string, order: ExportRequest): Promise<void> {
    const { storage, writer } = this.#deps
    const { file, manifest } = writer.fileNames(order)
    const key = writer.keyOf(tenant, order.jobId, file)
    // Deletes by name first, because that includes unfinished writes; then deletes the rest of the folder.
    await storage.delete(key)
    if (manifest !== undefined) await storage.delete(writer.keyOf(tenant, order.jobId, manifest))
    for await (const other of storage.list(key.slice(0, -file.length))) await storage.delete(other)
  }

  /** Deletes them in the background. The hourly chore repeats failed deletions. */
  removeSoon(tenant: string, order: ExportRequest): void {
    const removal = this.remove(tenant, order)
      .catch((error: unknown) =>
        this.#deps.log.warn({ err: error, export: order.jobId }, 'files of an export are deleted later'),
      )
      .finally(() => this.#removals.delete(removal))
    this.#removals.add(removal)
  }

  /** Resolves when no deletion is running. */
  async settled(): Promise<void> {
    await Promise.all(this.#removals)
  }
}
