import { Counter, Gauge, type Registry } from 'prom-client'

/** Waits for a database connection since the start, by class of transactions. */
export type DatabaseWaits = Readonly<
  Record<string, { waiting: number; waited: number; refused: number; seconds: number }>
>

/** Adds the metrics of waits for database connections. They are read for each page, so counting costs nothing. */
export function addDatabaseWaits(registry: Registry, read: () => DatabaseWaits): void {
  const registers = [registry]
  new Counter({
    name: 'hub_database_waits_total',
    help: 'Transactions that waited for a database connection, by class and outcome (granted, refused).',
    labelNames: ['class', 'outcome'],
    registers,
    collect() {
      this.reset()
      for (const [name, { waited, refused }] of Object.entries(read())) {
        this.inc({ class: name, outcome: 'granted' }, waited)
        this.inc({ class: name, outcome: 'refused' }, refused)
      }
    },
  })
  new Counter({
    name: 'hub_database_wait_seconds_total',
    help: 'Seconds that transactions waited for a database connection, by class.',
    labelNames: ['class'],
    registers,
    collect() {
      this.reset()
      for (const [name, { seconds }] of Object.entries(read())) this.inc({ class: name }, seconds)
    },
  })
  new Gauge({
    name: 'hub_database_waiting',
    help: 'Transactions that wait for a database connection now, by class.',
    labelNames: ['class'],
    registers,
    collect() {
      for (const [name, { waiting }] of Object.entries(read())) this.set({ class: name }, waiting)
    },
  })
}

export interface DiskFigures {
  /** Free bytes by the kind of data on the disk. */
  free: Readonly<Record<string, number>>
  floorBytes: number
}

/** Adds the metrics of free disk space. The alarm is 1 if exports and backups are refused. */
export function addDiskSpace(registry: Registry, read: () => Promise<DiskFigures>): void {
  const registers = [registry]
  new Gauge({
    name: 'hub_disk_free_bytes',
    help: 'Free bytes of the disks of the service, by contents (database, files).',
    labelNames: ['place'],
    registers,
    async collect() {
      for (const [place, bytes] of Object.entries((await read()).free)) this.set({ place }, bytes)
    },
  })
  new Gauge({
    name: 'hub_disk_full',
    help: '1 while a disk of the service has less free space than HUB_DISK_FREE_MIN_MB, by contents; else 0.',
    labelNames: ['place'],
    registers,
    async collect() {
      const { free, floorBytes } = await read()
      for (const [place, bytes] of Object.entries(free)) this.set({ place }, bytes < floorBytes ? 1 : 0)
    },
  })
}

export interface ExportFigures {
  /** Exports that were refused since the start, by reason. */
  refused: Readonly<Record<string, number>>
  /** Bytes of the export files of all tenants; absent in processes that do not count them. */
  bytesKept?: number | undefined
}

/** Adds the metrics of exports. */
export function addExports(registry: Registry, read: () => Promise<ExportFigures>): void {
  const registers = [registry]
  new Counter({
    name: 'hub_export_refusals_total',
    help: 'Exports refused, by reason (exports_per_day, bytes_kept, disk_full).',
    labelNames: ['reason'],
    registers,
    async collect() {
      const { refused } = await read()
      this.reset()
      for (const [reason, count] of Object.entries(refused)) this.inc({ reason }, count)
    },
  })
  new Gauge({
    name: 'hub_export_bytes_kept',
    help: 'Bytes of the export files of all tenants, including those being written. At most a minute old.',
    registers,
    async collect() {
      const { bytesKept } = await read()
      if (bytesKept !== undefined) this.set(bytesKept)
    },
  })
}

/**
 * Adds the metric of the oldest messages of webhooks.
 *
 * @param read returns seconds
 */
export function addWebhookWaits(registry: Registry, read: () => Record<'queued' | 'due', number>): void {
  new Gauge({
    name: 'hub_webhook_longest_wait_seconds',
    help: 'Age of the oldest waiting webhook message, by stage: queued (not assigned to endpoints yet), due.',
    labelNames: ['stage'],
    registers: [registry],
    collect() {
      for (const [stage, seconds] of Object.entries(read())) this.set({ stage }, seconds)
    },
  })
}
