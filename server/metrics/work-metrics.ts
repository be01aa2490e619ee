import { Counter, Gauge, type Registry } from 'prom-client'

/** Reads facts of the work of a process. Each is called for a page, so counting costs nothing. */
export interface WorkSources {
  /** Connections of each pool to the database. */
  connections: () => Readonly<Record<string, { active: number; idle: number; max: number }>>
  /** Reads that a replica may answer, by the server that did. */
  replicaReads: () => Readonly<Record<'replica' | 'primary', number>>
  /** Jobs by their kind and state. Empty in processes that run no jobs. */
  jobs: () => Promise<Readonly<Record<string, Readonly<Record<string, number>>>>>
  /** Seconds that the oldest unit of work has waited, by kind. Empty in processes that do not measure it. */
  lag: () => Promise<Readonly<Record<string, number>>>
  /** The number of logs whose newest checkpoint could not be stored. */
  failingCheckpoints: () => number
}

/** Adds the metrics of connections, jobs, lag and checkpoints. */
export function addWork(registry: Registry, sources: WorkSources): void {
  addConnections(registry, sources.connections)
  const registers = [registry]
  new Counter({
    name: 'hub_database_replica_reads_total',
    help: 'Reads that the read replica may answer, by the server that answered (replica, primary).',
    labelNames: ['server'],
    registers,
    collect() {
      this.reset()
      for (const [server, count] of Object.entries(sources.replicaReads())) this.inc({ server }, count)
    },
  })
  new Gauge({
    name: 'hub_jobs',
    help: 'Jobs of the queue, by kind and state (ready, deferred, active, failed). At most some seconds old.',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      const jobs = await sources.jobs()
      this.reset()
      for (const [queue, states] of Object.entries(jobs))
        for (const [state, count] of Object.entries(states)) this.set({ queue, state }, count)
    },
  })
  new Gauge({
    name: 'hub_work_lag_seconds',
    help:
      'Age of the oldest unit of background work of any tenant, by kind (folding: telemetry not in the rollups yet, ' +
      'log: seals not in a signed log yet). At most half a minute old.',
    labelNames: ['work'],
    registers,
    async collect() {
      const lag = await sources.lag()
      this.reset()
      for (const [work, seconds] of Object.entries(lag)) this.set({ work }, seconds)
    },
  })
  new Gauge({
    name: 'hub_checkpoint_logs_failing',
    help: 'Logs whose newest checkpoint could not be stored outside of the database yet, added up over the sinks.',
    registers,
    collect() {
      this.set(sources.failingCheckpoints())
    },
  })
}

function addConnections(registry: Registry, read: WorkSources['connections']): void {
  const registers = [registry]
  new Gauge({
    name: 'hub_database_connections',
    help: 'Open connections to the database, by pool (app, ingest, health, replica) and state (active, idle).',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, { active, idle }] of Object.entries(read())) {
        this.set({ pool, state: 'active' }, active)
        this.set({ pool, state: 'idle' }, idle)
      }
    },
  })
  new Gauge({
    name: 'hub_database_connections_max',
    help: 'Maximum number of connections to the database, by pool.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, { max }] of Object.entries(read())) this.set({ pool }, max)
    },
  })
}

/** Counts what the modules publish. */
export class EventCounters {
  readonly #telemetry: Counter
  readonly #otlp: Counter<'signal' | 'outcome'>
  readonly #slowed: Counter<'outcome'>
  readonly #mismatches: Counter

  constructor(registry: Registry) {
    const registers = [registry]
    this.#telemetry = new Counter({
      name: 'hub_telemetry_events_stored_total',
      help: 'Telemetry events stored.',
      registers,
    })
    this.#otlp = new Counter({
      name: 'hub_otlp_items_total',
      help: 'Spans and log records of OpenTelemetry, by signal (traces, logs) and outcome (accepted, rejected, ignored).',
      labelNames: ['signal', 'outcome'],
      registers,
    })
    this.#slowed = new Counter({
      name: 'hub_ingest_slowed_total',
      help: 'Groups of telemetry events that were delayed, and requests that were refused, while folding was behind.',
      labelNames: ['outcome'],
      registers,
    })
    // A rate exists from the first increment only if the series exists before it.
    for (const outcome of ['delayed', 'refused']) this.#slowed.inc({ outcome }, 0)
    for (const signal of ['traces', 'logs'] as const)
      this.otlpReceived(signal, { accepted: 0, rejected: 0, ignored: 0 })
    this.#mismatches = new Counter({
      name: 'hub_checkpoint_mismatches_total',
      help: 'Checkpoints of logs that disagree with one that was stored outside of the database.',
      registers,
    })
  }

  telemetryStored(events: number): void {
    this.#telemetry.inc(events)
  }

  otlpReceived(signal: 'traces' | 'logs', counts: Record<'accepted' | 'rejected' | 'ignored', number>): void {
    for (const [outcome, count] of Object.entries(counts)) this.#otlp.inc({ signal, outcome }, count)
  }

  ingestSlowed(outcome: 'delayed' | 'refused'): void {
    this.#slowed.inc({ outcome })
  }

  checkpointMismatched(): void {
    this.#mismatches.inc()
  }
}
