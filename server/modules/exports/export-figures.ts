import type { Database, DatabaseLog, TenantTx } from '../../db/database.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import type { DiskSpace } from '../../storage/disk-space.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import type { ExportRefusal } from './export-quota.ts'

/** Milliseconds for which the bytes are cached, because reading them takes a transaction for each tenant. */
const freshMs = 60_000

/** Collects the metrics of exports. */
export interface ExportFigures {
  refuse(reason: ExportRefusal): void
  /** Wraps a disk check to count its refusals. */
  counted(disk: Pick<DiskSpace, 'requireRoom'>): Pick<DiskSpace, 'requireRoom'>
  /**
   * Returns the metrics. With `bytes` they include the bytes of every tenant, at most a minute old; these are absent
   * while they cannot be read.
   */
  read(options: { bytes: boolean }): Promise<{ refused: Record<ExportRefusal, number>; bytesKept?: number | undefined }>
}

export function createExportFigures(deps: {
  database: Database
  directory: Pick<TenantDirectory, 'slugs'>
  clock: RecordClock
  log: DatabaseLog
  bytesKept: (tx: TenantTx, nowMicros: number) => Promise<number>
}): ExportFigures {
  const refused = { exports_per_day: 0, bytes_kept: 0, disk_full: 0 }
  let latest: { atMs: number; bytes: Promise<number | undefined> } | undefined

  async function readBytes(): Promise<number | undefined> {
    try {
      const now = deps.clock.next().micros
      let bytes = 0
      for (const slug of await deps.directory.slugs()) {
        bytes += await deps.database.withTenant(slug, (tx) => deps.bytesKept(tx, now), { readOnly: true })
      }
      return bytes
    } catch (error) {
      deps.log.warn({ err: error }, 'the bytes of exports could not be read')
      return undefined
    }
  }

  return {
    refuse: (reason) => {
      refused[reason] += 1
    },
    counted: (disk) => ({
      async requireRoom() {
        await disk.requireRoom().catch((error: unknown) => {
          refused.disk_full += 1
          throw error
        })
      },
    }),
    async read({ bytes }) {
      if (!bytes) return { refused }
      const now = performance.now()
      if (latest === undefined || now - latest.atMs > freshMs) latest = { atMs: now, bytes: readBytes() }
      return { refused, bytesKept: await latest.bytes }
    },
  }
}
