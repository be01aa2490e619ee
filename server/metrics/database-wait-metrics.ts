import { Counter, Gauge, type Registry } from 'prom-client'

/** Waits for a database connection since the start, by class of transactions. */
export type DatabaseWaits = Readonly<
  Record<string, { waiting: number; waited: number; refused: number; seconds: number }>
>

/**
 * Adds the metrics of waits for database connections. They are read when a page is requested, so counting costs a
 * transaction nothing.
 *
 * @param read returns undefined until the database is open
 */
export function databaseWaitMetrics(registry: Registry, read: () => DatabaseWaits | undefined): void {
  const registers = [registry]
  new Counter({
    name: 'hub_database_waits_total',
    help: 'Transactions that waited for a database connection, by class and outcome (granted, refused).',
    labelNames: ['class', 'outcome'],
    registers,
    collect() {
      this.reset()
      for (const [name, { waited, refused }] of Object.entries(read() ?? {})) {
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
      for (const [name, { seconds }] of Object.entries(read() ?? {})) this.inc({ class: name }, seconds)
    },
  })
  new Gauge({
    name: 'hub_database_waiting',
    help: 'Transactions that wait for a database connection now, by class.',
    labelNames: ['class'],
    registers,
    collect() {
      for (const [name, { waiting }] of Object.entries(read() ?? {})) this.set({ class: name }, waiting)
    },
  })
}
