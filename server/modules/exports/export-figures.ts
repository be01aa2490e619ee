import { readTenant, type TenantTx } from '../../db/database.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { DiskSpace } from '../../storage/disk-space.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import type { ExportRejection } from './export-quota.ts'

/** Milliseconds for which the bytes are cached, because reading them takes a transaction for each tenant. */
const freshMs = 60_000

interface FiguresDeps extends Pick<ModuleParts, 'database' | 'clock' | 'log'> {
  directory: Pick<TenantDirectory, 'slugs'>
  bytesKept: (tx: TenantTx, nowMicros: number) => Promise<number>
}

/** Collects the metrics of exports. */
export class ExportFigures {
  readonly #deps: FiguresDeps
  readonly #refused: Record<ExportRejection, number> = { exports_per_day: 0, bytes_kept: 0, disk_full: 0 }
  #latest: { atMs: number; bytes: Promise<number | undefined> } | undefined

  constructor(deps: FiguresDeps) {
    this.#deps = deps
  }

  refuse(reason: ExportRejection): void {
    this.#refused[reason] += 1
  }

  /** Wraps a disk check to count its rejections. */
  counted(disk: Pick<DiskSpace, 'requireRoom'>): Pick<DiskSpace, 'requireRoom'> {
    return {
      requireRoom: () =>
        disk.requireRoom().catch((error: unknown) => {
          this.refuse('disk_full')
          throw error
        }),
    }
  }

  /**
   * Returns the metrics. With `bytes` they include the bytes of every tenant, at most a minute old; these are absent
   * while they cannot be read.
   */
  async read({ bytes }: { bytes: boolean }) {
    if (!bytes) return { refused: this.#refused }
    const now = performance.now()
    if (!this.#latest || now - this.#latest.atMs > freshMs) this.#latest = { atMs: now, bytes: this.#readBytes() }
    return { refused: this.#refused, bytesKept: await this.#latest.bytes }
  }

  async #readBytes(): Promise<number | undefined> {
    const { database, directory, clock, log, bytesKept } = this.#deps
    try {
      const now = clock.next().micros
      let bytes = 0
      for (const slug of await directory.slugs()) {
        bytes += await readTenant(database, slug, (tx) => bytesKept(tx, now))
      }
      return bytes
    } catch (error) {
      log.warn({ err: error }, 'the bytes of exports could not be read')
      return undefined
    }
  }
}
