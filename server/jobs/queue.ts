import { setTimeout as delay } from 'node:timers/promises'
import { type JobResult, PgBoss } from 'pg-boss'
import { DomainError } from '../../contract/domain-error.ts'
import type { Config } from '../config.ts'
import { type ConnectionTarget, clientConfig } from '../db/connection-settings.ts'
import type { DatabaseLog, TenantTx } from '../db/database.ts'
import { asServiceError } from '../db/database-errors.ts'
import { jobSchema } from '../db/job-schema.ts'

const connectionsMax = 4
/** How often jobs of processes that died are looked for. The second is less, so that every look of the first is one. */
const superviseIntervalSeconds = 15
const monitorIntervalSeconds = 10
/** A process that has not said for so long that it works on a long job has died; it says so three times as often. */
const heartbeatSeconds = 15
/** Pauses between further tries of a long job grow no longer. */
const retrySecondsMax = 60
const startRetryMsMax = 10_000
/** How long whoever sends a job waits for the queue to start. */
const sendMsMax = 5000

/** A kind of background work. A handler may run more than once for one job, so it must be idempotent. */
export interface JobDefinition {
  /** Letters, digits, `-`, `_` and `.`. */
  readonly name: string
  /** When to run by itself, in UTC, once among all workers: five cron fields. */
  readonly cron?: string
  /** Run once soon after the workers have started, too. */
  readonly atStart?: boolean
  /** How often a failed job is tried again, with growing pauses. Default 3. */
  readonly retryLimit?: number
  /** The pause before the first further try. Default 5. */
  readonly retryDelaySeconds?: number
  /** Seconds between looks for new jobs of this kind. Default 2. */
  readonly pollingIntervalSeconds?: number
  /**
   * How many a process takes at one look and does side by side, looking again at once while there are as many. Default
   * 1: one at each look, so what strangers may cause should have more. Each still fails or succeeds by itself.
   */
  readonly atOnce?: number
  /**
   * For long jobs: how many a process does side by side, in all and of one group (see {@link SendOptions}); the others
   * wait without keeping those of other groups waiting. A job whose process has died is tried again within a minute.
   */
  readonly sideBySide?: { readonly all: number; readonly ofGroup: number }
  /** The signal fires after so long. Default 15 minutes, and at most a day. */
  readonly secondsMax?: number
  /** `signal` fires when the job has run for too long or the worker stops. */
  handler(job: { data: object; signal: AbortSignal }): Promise<void>
}

export interface SendOptions {
  /** A second job with the same key is dropped while the first waits. */
  readonly singletonKey?: string
  /** Whom it is for, where that is not to keep others waiting. */
  readonly group?: string
  /** Not before; at once by default. */
  readonly startAfter?: Date
  /** Queues it exactly if this transaction commits. */
  readonly tx?: Pick<TenantTx, 'client'>
}

export interface JobQueue {
  /** Declares a job. Call it before `start`. */
  registerJob(job: JobDefinition): void
  /** Begins in the background and returns at once; retries for as long as the database is away. */
  start(): void
  /** Queues a job. Throws `hub-unavailable` while the database is away. */
  send(name: string, data: object, options?: SendOptions): Promise<void>
  /** Lets running jobs finish, for as long as the drain time allows; what is cut off is tried again later. */
  stop(): Promise<void>
}

/**
 * The job queue: pg-boss on tables that the owner migrated. Processes of the roles `all` and `worker` work on jobs;
 * `api` only sends them.
 *
 * @param target the application role
 */
export function createJobQueue(
  target: ConnectionTarget,
  config: Pick<Config, 'role' | 'drainSeconds'>,
  log: DatabaseLog,
): JobQueue {
  const jobs = new Map<string, JobDefinition>()
  const works = config.role !== 'api'
  const boss = openBoss(target, works, log)
  const stopped = new AbortController()
  let starting: Promise<void> = Promise.resolve()

  return {
    registerJob: (job) => {
      if (jobs.has(job.name)) throw new Error(`job ${job.name} is registered twice`)
      jobs.set(job.name, job)
    },
    start: () => {
      starting = startWithRetries(boss, [...jobs.values()], works, log, stopped.signal)
    },
    send: async (name, data, { singletonKey, group, startAfter, tx } = {}) => {
      if (!jobs.has(name)) throw new Error(`job ${name} is not registered`)
      try {
        await withinMs(sendMsMax, starting)
        await boss.send(name, data, {
          ...(singletonKey !== undefined && { singletonKey }),
          ...(group !== undefined && { group: { id: group } }),
          ...(startAfter !== undefined && { startAfter }),
          ...(tx !== undefined && { db: { executeSql: (text, values) => tx.client.query(text, values) } }),
        })
      } catch (error) {
        throw asServiceError(error)
      }
    },
    stop: async () => {
      stopped.abort()
      await starting
      await boss
        .stop({ graceful: true, timeout: config.drainSeconds * 1000 })
        .catch((error: unknown) => log.warn({ err: error }, 'the job queue stopped while the database was away'))
    },
  }
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
    // The owner migrates, see db/job-schema.ts; this role could not.
    migrate: false,
    createSchema: false,
    reindex: false,
    supervise: works,
    superviseIntervalSeconds,
    monitorIntervalSeconds,
    schedule: works,
  })
  // Without a listener a lost connection would end the process; pg-boss goes on by itself.
  boss.on('error', (emitted: QueueError) => {
    log.warn({ err: asError(emitted), ...(emitted.queue && { queue: emitted.queue }) }, 'job queue')
  })
  return boss
}

type QueueError = Partial<NodeJS.ErrnoException> & { queue?: string }

/** Returns an Error, which the log describes. The queue emits most errors as plain objects with the same members. */
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
  for (let waitMs = 250; !stopped.aborted; waitMs = Math.min(waitMs * 2, startRetryMsMax)) {
    try {
      await boss.start()
      for (const job of jobs) {
        // Whoever sends needs it too, and may be there first.
        await declareJob(boss, job)
        if (works) await startJob(boss, job, log)
      }
      return
    } catch (error) {
      log.warn({ err: error }, 'the job queue does not start yet')
      await boss.stop({ graceful: false }).catch(() => {})
      await delay(waitMs, undefined, { signal: stopped }).catch(() => {})
    }
  }
}

/** Throws `hub-unavailable` when it takes longer. */
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
          await job.handler({ data: (data as object | null) ?? {}, signal })
          return { id, status: 'completed' }
        } catch (error) {
          log.error({ err: error, job: job.name }, 'job failed')
          return { id, status: 'failed', output: error }
        }
      }),
    ),
  )
  if (job.cron) await boss.schedule(job.name, job.cron, {}, { tz: 'UTC' })
  // Of several workers that start together, one runs it.
  if (job.atStart) await boss.send(job.name, {}, { singletonKey: 'start', singletonSeconds: 60 })
}
