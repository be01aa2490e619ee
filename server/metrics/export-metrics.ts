import { Counter, Gauge, type Registry } from 'prom-client'

export interface ExportFigures {
  /** Exports that were refused since the start, by reason. */
  refused: Readonly<Record<string, number>>
  /** Bytes of the export files of all tenants; absent in processes that do not count them. */
  bytesKept?: number | undefined
}

/**
 * Adds the metrics of exports, which are read when a page is requested.
 *
 * @param read returns undefined until the service runs
 */
export function exportMetrics(registry: Registry, read: () => Promise<ExportFigures> | undefined): void {
  const registers = [registry]
  new Counter({
    name: 'hub_export_refusals_total',
    help: 'Exports refused, by reason (exports_per_day, bytes_kept, disk_full).',
    labelNames: ['reason'],
    registers,
    async collect() {
      const { refused = {} } = (await read()) ?? {}
      this.reset()
      for (const [reason, count] of Object.entries(refused)) this.inc({ reason }, count)
    },
  })
  new Gauge({
    name: 'hub_export_bytes_kept',
    help: 'Bytes of the export files of all tenants, also of those that are being written. A minute old at most.',
    registers,
    async collect() {
      const { bytesKept } = (await read()) ?? {}
      if (bytesKept !== undefined) this.set(bytesKept)
    },
  })
}
