import { setTimeout as delay } from 'node:timers/promises'
import { backoff } from '../../../../contract/backoff.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Tenant } from '../../../http/caller.ts'
import { type NextVisit, TenantLoop } from '../../../jobs/tenant-loop.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { LogHead } from '../log-types.ts'
import { type CheckpointSink, LogRollbackError, type StoredCheckpoint } from './checkpoint-types.ts'

const usualTimes = {
  /** Milliseconds between two stored checkpoints of one log. */
  intervalMs: 2_000,
  /** Milliseconds between two reads of the heads that other processes have signed. */
  lookMs: 60_000,
  /** Milliseconds before a retry; doubled each time. */
  retryMs: { first: 1_000, max: 300_000 },
  /** Maximum milliseconds for which stopping waits for running writes. */
  stopMs: 5_000,
}

export type PublisherTimes = typeof usualTimes

/**
 * Maximum logs that are sent to one sink at once, so that one slow log does not delay the others, and few files are
 * open.
 */
const atOnceMax = 8

interface PublisherDeps extends Pick<ModuleParts, 'events' | 'log'> {
  /** Lists the stored head of every log. */
  storedHeads: () => AsyncIterable<{ tenant: Tenant; head: LogHead }>
  /** Returns whether the later checkpoint is consistent with the earlier one. */
  continues: (tenant: Tenant, earlier: StoredCheckpoint, later: StoredCheckpoint) => Promise<boolean>
  times?: Partial<PublisherTimes>
}

/**
 * Publishes signed checkpoints to the sinks, outside of every critical path. Each sink gets the newest checkpoint of
 * each log independently, so that an unavailable sink delays no other. A newer checkpoint replaces a waiting one, so
 * memory is bounded by the number of logs.
 */
export class CheckpointPublisher {
  readonly #sinks: readonly SinkPublisher[]
  #isStarted = false

  constructor({ sinks, ...deps }: PublisherDeps & { sinks: readonly CheckpointSink[] }) {
    this.#sinks = sinks.map((sink) => new SinkPublisher(sink, deps))
  }

  /** Receives a new head after its commit. Never throws. Of heads in quick succession, only the last is stored. */
  headSigned(tenant: Tenant, head: LogHead): void {
    if (this.#isStarted) for (const sink of this.#sinks) sink.offer(tenant, head)
  }

  /** Starts publishing. Also stores checkpoints that other processes, or this one before a crash, have signed. */
  start(): void {
    this.#isStarted = true
    for (const sink of this.#sinks) sink.start()
  }

  /** Returns the number of logs whose newest checkpoint could not be stored, added up over the sinks. */
  failing(): number {
    return this.#sinks.reduce((sum, sink) => sum + sink.failing(), 0)
  }

  /** Tries once to store pending checkpoints, for a few seconds at most. */
  async stop(): Promise<void> {
    if (!this.#isStarted) return
    this.#isStarted = false
    await Promise.all(this.#sinks.map((sink) => sink.stop()))
  }
}

/** The newest checkpoint of one log for one sink. */
interface PublishedLog {
  tenant: Tenant
  waiting: StoredCheckpoint | undefined
  /** The checkpoint that was stored last, or permanently refused; not sent again. */
  done: string | undefined
  failures: number
}

class SinkPublisher {
  readonly #sink: CheckpointSink
  readonly #deps: PublisherDeps
  readonly #times: PublisherTimes
  readonly #logs = new Map<string, PublishedLog>()
  /** Visits logs by their names. */
  readonly #loop: TenantLoop

  constructor(sink: CheckpointSink, deps: PublisherDeps) {
    this.#sink = sink
    this.#deps = deps
    this.#times = { ...usualTimes, ...deps.times }
    this.#loop = new TenantLoop({
      visit: (logName) => this.#publish(logName),
      listTenants: (stopped) => this.#logsOfOthers(stopped),
      listMs: this.#times.lookMs,
      concurrency: atOnceMax,
      log: deps.log,
      messages: {
        unavailable: 'checkpoints are not stored while the database is unavailable',
        failed: 'could not store a checkpoint',
        unlisted: 'the heads of the logs could not be read; retrying in a minute',
      },
    })
  }

  offer(tenant: Tenant, head: LogHead): void {
    if (this.#take(tenant, head)) this.#loop.wake(tenant.logName)
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    let isLate = false
    const last = async () => {
      await this.#loop.stop()
      // Tries each once more, regardless of its pause.
      const waiting = [...this.#logs.values()].filter((log) => log.waiting !== undefined)
      for (let at = 0; at < waiting.length && !isLate; at += atOnceMax) {
        await Promise.all(waiting.slice(at, at + atOnceMax).map((log) => this.#store(log, log.waiting!)))
      }
    }
    await Promise.race([last(), delay(this.#times.stopMs, undefined, { ref: false })])
    isLate = true
  }

  failing(): number {
    return [...this.#logs.values()].filter(({ failures }) => failures > 0).length
  }

  /** Names the logs whose heads other processes have signed. */
  async *#logsOfOthers(stopped: AbortSignal): AsyncGenerator<string> {
    for await (const { tenant, head } of this.#deps.storedHeads()) {
      if (stopped.aborted) return
      if (this.#take(tenant, head)) yield tenant.logName
    }
  }

  /** Makes a checkpoint wait. Returns false if it is stored or older than the waiting one. */
  #take(tenant: Tenant, { treeSize, checkpoint }: LogHead): boolean {
    // Every log is consistent with an empty one.
    if (treeSize === 0) return false
    const { logName } = tenant
    const log = this.#logs.get(logName) ?? { tenant, waiting: undefined, done: undefined, failures: 0 }
    this.#logs.set(logName, log)
    // A read of stored heads may arrive after a newer one was announced.
    if (log.done === checkpoint || (log.waiting && log.waiting.tree_size > treeSize)) return false
    log.waiting = { kept_at: formatTimestamp(Date.now()), log_name: logName, tree_size: treeSize, checkpoint }
    return true
  }

  async #publish(logName: string): Promise<NextVisit> {
    const log = this.#logs.get(logName)
    if (log?.waiting === undefined) return undefined
    const pauseMs = await this.#store(log, log.waiting)
    return { inMs: pauseMs, restMs: pauseMs }
  }

  /** Stores a checkpoint; it waits again if that fails. Returns the milliseconds until the next one may follow. */
  async #store(log: PublishedLog, checkpoint: StoredCheckpoint): Promise<number> {
    const { continues, events, log: serviceLog } = this.#deps
    const { place } = this.#sink
    const { log_name, tree_size } = checkpoint
    log.waiting = undefined
    try {
      await this.#sink.keep(checkpoint, (earlier, later) => continues(log.tenant, earlier, later))
      if (log.failures > 0) serviceLog.info({ log_name, place }, 'checkpoints are stored again')
      log.failures = 0
      log.done = checkpoint.checkpoint
    } catch (error) {
      const details = { err: error, log_name, tree_size, place }
      if (!(error instanceof LogRollbackError)) {
        const pauseMs = backoff(log.failures, this.#times.retryMs)
        log.failures += 1
        // Logs the first failure and then, by powers of two, ever fewer.
        if (Number.isInteger(Math.log2(log.failures)))
          serviceLog.warn({ ...details, attempts: log.failures }, 'could not store a checkpoint; retrying')
        log.waiting ??= checkpoint
        return pauseMs
      }
      serviceLog.error(
        details,
        'the log of a tenant was restored to an earlier state: it disagrees with a stored checkpoint',
      )
      const found = { tree_size, kept_tree_size: error.kept.tree_size, place }
      events.publish('checkpointMismatch', { tenant: log.tenant, found })
      log.done = checkpoint.checkpoint
    }
    return this.#times.intervalMs
  }
}
