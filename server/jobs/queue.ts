import { setTimeout as delay } from 'node:timers/promises'
import { type JobResult, PgBoss, type QueueResult } from 'pg-boss'
import { backoff } from '../../contract/backoff.ts'
import { DomainError } from '../../contract/domain-error.ts'
import type { Config } from '../config.ts'
import { type ConnectionTarget, clientConfig } from '../db/connection-settings.ts'
import type { DatabaseLog, TenantTx } from '../db/database.ts'
import { asServiceError } from '../db/database-errors.ts'
import { jobSchema } from '../db/job-schema.ts'
import { traceJob } from '../tracing/current-work.ts'

const connectionsMax = 4
/**
 * Seconds between searches for jobs of dead processes. The monitor interval is shorter, so that every supervision also
 * monitors.
 */
const superviseIntervalSeconds = 15
const monitorIntervalSeconds = 10
/** A process whose heartbeat for a long job is this old counts as dead. It sends three heartbeats in that time. */
const heartbeatSeconds = 15
/** Maximum backoff between retries of a long job, in seconds. */
const retrySecondsMax = 60
const startRetryMs = { first: 250, max: 10_000 }
/** Milliseconds that a sender of a job waits for the queue to start. */
const sendMsMax = 5000

/** A kind of background work. A handler may run more than once for one job, so it must be idempotent. */
export interface JobDefinition {
  /** The name: letters, digits, `-`, `_` and `.`. */
  readonly name: string
  /** The schedule in UTC, as five cron fields. All workers together run it once. */
  readonly cron?: string
  /** Whether it also runs once soon after the workers have started. */
  readonly atStart?: boolean
  /** Maximum number of retries of a failed job, with growing backoff. Default 3. */
  readonly retryLimit?: number
  /** Seconds before the first retry. Default 5. */
  readonly retryDelaySeconds?: number
  /** Seconds between polls for new jobs of this kind. Default 2. */
  readonly pollingIntervalSeconds?: number
  /**
   * Maximum number of jobs that a process fetches in one poll and runs concurrently; it polls again at once after a
   * full batch. Default 1. Jobs that outsiders may cause should have more. Each job fails or succeeds alone.
   */
  readonly atOnce?: number
  /**
   * For long jobs: maximum number of concurrent jobs of a process, in all and of one group (see {@link SendOptions}). A
   * full group does not delay other groups. A job whose process died is retried within a minute.
   */
  readonly sideBySide?: { readonly all: number; readonly ofGroup: number }
  /** Seconds after which the signal fires. Default 15 minutes, at most one day. */
  readonly secondsMax?: number
  /** Runs a job. `signal` fires when the job has run for too long or the worker stops. */
  handler(job: { data: object; signal: AbortSignal }): Promise<void>
}

export interface SendOptions {
  /** The group that shares `sideBySide.ofGroup`, so that one group does not delay others. */
  readonly group?: string
  /** The earliest start. Default: at once. */
  readonly startAfter?: Date
  /** Queues it exactly if this transaction commits. */
  readonly tx?: Pick<TenantTx, 'client'>
}

/** Jobs of one kind: due, due later, running, and failed for good within the last days. */
type JobCounts = Readonly<Record<'ready' | 'deferred' | 'active' | 'failed', number>>

/**
 * Queues jobs: pg-boss on tables that the owner migrated. Processes of the roles `all` and `worker` run jobs; `api` only
 * sends them.
 */
export class JobQueue {
  readonly #jobs = new Map<string, JobDefinition>()
  readonly #works: boolean
  readonly #boss: PgBoss
  readonly #drainMs: number
  readonly #log: DatabaseLog
  readonly #stopped = new AbortController()
  #starting: Promise<void> = Promise.resolve()

  /** @param target the application role */
  constructor(target: ConnectionTarget, config: Pick<Config, 'role' | 'drainSeconds'>, log: DatabaseLog) {
    this.#works = config.role !== 'api'
    this.#boss = openBoss(target, this.#works, log)
    this.#drainMs = config.drainSeconds * 1000
    this.#log = log
  }

  /** Declares a job. Call it before `start`. */
  registerJob(job: JobDefinition): void {
    if (this.#jobs.has(job.name)) throw new Error(`job ${job.name} is registered twice`)
    this.#jobs.set(job.name, job)
  }

  /** Starts in the background and returns at once. Retries while the database is away. */
  start(): void {
    const jobs = [...this.#jobs.values()]
    this.#starting = startWithRetries(this.#boss, jobs, this.#works, this.#log, this.#stopped.signal)
  }

  /** Queues a job. Throws `hub-unavailable` while the database is away. */
  async send(name: string, data: object, { group, startAfter, tx }: SendOptions = {}): Promise<void> {
    if (!this.#jobs.has(name)) throw new Error(`job ${name} is not registered`)
    try {
      await withinMs(sendMsMax, this.#starting)
      await this.#boss.send(name, data, {
        ...(group !== undefined && { group: { id: group } }),
        ...(startAfter !== undefined && { startAfter }),
        ...(tx !== undefined && { db: { executeSql: (text, values) => tx.client.query(text, values) } }),
      })
    } catch (error) {
      throw asServiceError(error)
    }
  }

  /**
   * Returns the number of jobs by kind, as the queue counts them every few seconds; nothing in a process that only sends
   * jobs, or while they cannot be read.
   */
  async depths(): Promise<Record<string, JobCounts>> {
    if (!this.#works) return {}
    try {
      const queues = await this.#boss.getQueues([...this.#jobs.keys()])
      return Object.fromEntries(queues.map((queue) => [queue.name, countsOf(queue)]))
    } catch (error) {
      this.#log.warn({ err: error }, 'the jobs could not be counted')
      return {}
    }
  }

  /** Waits for running jobs, at most for the drain time. Jobs that are cut off are retried later. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#starting
    await this.#boss
      .stop({ graceful: true, timeout: this.#drainMs })
      .catch((error: unknown) => this.#log.warn({ err: error }, 'the job queue stopped while the database was away'))
  }
}

function countsOf({ readyCount, deferredCount, activeCount, failedCount }: QueueResult): JobCounts {
  return { ready: readyCount, deferred: deferredCount, active: activeCount, failed: failedCount }
}

function openBoss(target: ConnectionTarget, works: boolean, log: DatabaseLog): PgBoss {
  // pg-boss reads timestamps as Date, so it gets the driver's own parsers.
  const { types: _, ...connection } = clientConfig(target, 'hub-jobs')
  const { host, port, database, ...rest } = connection
  const boss = new PgBoss({
    ...(rest as object),
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(database === undefined ? {} : { database }),
    schema: jobSchema,
    max: connectionsMax,
    // The owner migrates (see db/job-schema.ts); this role could not.
    migrate: false,
    createSchema: false,
    reindex: false,
    supervise: works,
    superviseIntervalSeconds,
    monitorIntervalSeconds,
    schedule: works,
  })
  // Without this listener a lost connection would end the process; pg-boss reconnects by itself.
  boss.on('error', (emitted: QueueError) => {
    log.warn({ err: asError(emitted), ...(emitted.queue && { queue: emitted.queue }) }, 'job queue')
  })
  return boss
}

type QueueError = Partial<NodeJS.ErrnoException> & { queue?: string }

/** Returns an Error for the log. The queue emits most errors as plain objects with the same members. */
function asError(emitted: QueueError): Error {
  if (emitted instanceof Error) return emitted
  const { message = 'unknown error', code, stack } = emitted
  return Object.assign(new Error(message), { ...(code && { code }), ...(stack && { stack }) })
}

async function startWithRetries(
  boss: PgBoss,
  jobs: readonly JobDefinition[],
  works: boolean,
  log: DatabaseLog,
  stopped: AbortSignal,
): Promise<void> {
  for (let retries = 0; !stopped.aborted; retries += 1) {
    try {
      await boss.start()
      for (const job of jobs) {
        // A sender needs the declaration too, and may come first.
        await declareJob(boss, job)
        if (works) await startJob(boss, job, log)
      }
      return
    } catch (error) {
      log.warn({ err: error }, 'the job queue cannot start yet')
      await boss.stop({ graceful: false }).catch(() => {})
      await delay(backoff(retries, startRetryMs), undefined, { signal: stopped }).catch(() => {})
    }
  }
}

/** Awaits the work; throws `hub-unavailable` if it takes longer. */
async function withinMs(ms: number, work: Promise<void>): Promise<void> {
  const waiting = new AbortController()
  const late = delay(ms, undefined, { signal: waiting.signal }).then(() => {
    throw new DomainError('hub-unavailable', 'Background work has not started yet. Try again shortly.', {
      retryAfterSeconds: 5,
    })
  })
  try {
    await Promise.race([work, late])
  } finally {
    late.catch(() => {})
    waiting.abort()
  }
}

function declareJob(boss: PgBoss, job: JobDefinition): Promise<void> {
  return boss.createQueue(job.name, {
    retryLimit: job.retryLimit ?? 3,
    retryDelay: job.retryDelaySeconds ?? 5,
    retryBackoff: true,
    ...(job.secondsMax !== undefined && { expireInSeconds: job.secondsMax }),
    ...(job.sideBySide && { heartbeatSeconds, retryDelayMax: retrySecondsMax }),
  })
}

async function startJob(boss: PgBoss, job: JobDefinition, log: DatabaseLog): Promise<void> {
  const options = {
    pollingIntervalSeconds: job.pollingIntervalSeconds ?? 2,
    batchSize: job.atOnce ?? 1,
    burstWhenBatchFull: true,
    perJobResults: true,
    ...(job.sideBySide && {
      localConcurrency: job.sideBySide.all,
      localGroupConcurrency: job.sideBySide.ofGroup,
      heartbeatRefreshSeconds: heartbeatSeconds / 3,
    }),
  } as const
  await boss.work(job.name, options, (batch) =>
    Promise.all(
      batch.map(async ({ id, data, signal }): Promise<JobResult> => {
        try {
          await traceJob(job.name, () => job.handler({ data: (data as object | null) ?? {}, signal }))
          return { id, status: 'completed' }
        } catch (error) {
          log.error({ err: error, job: job.name }, 'job failed')
          return { id, status: 'failed', output: error }
        }
      }),
    ),
  )
  if (job.cron) await boss.schedule(job.name, job.cron, {}, { tz: 'UTC' })
  // Only one of several workers that start together runs it.
  if (job.atStart) await boss.send(job.name, {}, { singletonKey: 'start', singletonSeconds: 60 })
}
