import { Gauge, type Registry } from 'prom-client'

export interface DiskFigures {
  /** Free bytes by the kind of data on the disk. */
  free: Readonly<Record<string, number>>
  floorBytes: number
}

/**
 * Adds the metrics of free disk space, which are read when a page is requested. The alarm is 1 if exports and backups
 * are refused.
 *
 * @param read returns undefined until the service runs
 */
export function diskMetrics(registry: Registry, read: () => Promise<DiskFigures> | undefined): void {
  const registers = [registry]
  new Gauge({
    name: 'hub_disk_free_bytes',
    help: 'Free bytes of the disks of the service, by what is kept there (database, files).',
    labelNames: ['place'],
    registers,
    async collect() {
      const figures = await read()
      for (const [place, bytes] of Object.entries(figures?.free ?? {})) this.set({ place }, bytes)
    },
  })
  new Gauge({
    name: 'hub_disk_full',
    help: '1 while a disk of the service has less free space than HUB_DISK_FREE_MIN_MB, by what is kept there; else 0.',
    labelNames: ['place'],
    registers,
    async collect() {
      const figures = await read()
      for (const [place, bytes] of Object.entries(figures?.free ?? {})) {
        this.set({ place }, bytes < figures!.floorBytes ? 1 : 0)
      }
    },
  })
}
