import { type Static, Type } from 'typebox'
import { isStorageFull } from '../../../contract/domain-error.ts'

const LostLogs = Type.Object(
  {
    ok: Type.Literal(false),
    reason: Type.String({ examples: ['Logs with stored checkpoints are missing from the database.'] }),
  },
  { description: 'Absent if every log with stored checkpoints has its tenant and its file' },
)
const Version = Type.String({ description: 'Version of the software', examples: ['0.1.0'] })
const FullStorage = Type.Optional(
  Type.Literal('storage is full', { description: 'A write failed on a full database disk within the last minute' }),
)
const Answering = Type.Object({
  ok: Type.Literal(true),
  latency_ms: Type.Optional(Type.Number({ minimum: 0, examples: [0.8] })),
  reason: FullStorage,
})
const Away = Type.Object({
  ok: Type.Literal(false),
  latency_ms: Type.Optional(Type.Number({ minimum: 0 })),
  reason: FullStorage,
})

export const Healthy = Type.Object(
  {
    status: Type.Literal('ok'),
    degraded: Type.Optional(
      Type.Literal(true, {
        description: 'The service answers requests, but a check below is not ok',
        examples: [true],
      }),
    ),
    version: Version,
    checks: Type.Object({ database: Answering, logs: Type.Optional(LostLogs) }),
  },
  { description: 'The service is healthy. `degraded` is present if logs of tenants are missing' },
)
export const Unavailable = Type.Object(
  { status: Type.Literal('unavailable'), version: Version, checks: Type.Object({ database: Away }) },
  { description: 'The database is unavailable, and the service recovers by itself; or its disk is full' },
)

type Health = Static<typeof Healthy> | Static<typeof Unavailable>

interface HealthOptions {
  version: string
  /** Queries the database; rejects if it is away. */
  pingDatabase: () => Promise<void>
  /** Returns whether logs that checkpoint sinks contain are gone from the database. */
  areLogsLost?: () => Promise<boolean>
  /** Milliseconds after which a silent database counts as away. */
  timeoutMs?: number
  /** Milliseconds for which a result is reused, because anyone may request it. */
  freshMs?: number
}

/** The text names no tenant, because anyone may request it. */
const lostReason =
  'Logs with stored checkpoints are missing from the database, or the files of their checkpoints are missing. See `hub log audit`.'
const logsFreshMs = 5_000

/** Reports the health of the service. Concurrent requests share one check. */
export class HealthService {
  private readonly options: Required<HealthOptions>
  private logs = { areLost: false, isLooking: false, lookedAt: Number.NEGATIVE_INFINITY }
  private latest: { at: number; health: Promise<Health> } | undefined

  constructor(options: HealthOptions) {
    this.options = { timeoutMs: 2000, freshMs: 500, areLogsLost: async () => false, ...options }
  }

  check(): Promise<Health> {
    const now = performance.now()
    if (this.latest === undefined || now - this.latest.at > this.options.freshMs) {
      this.latest = { at: now, health: this.look(now) }
    }
    return this.latest.health
  }

  private async look(startedAt: number): Promise<Health> {
    const { version } = this.options
    try {
      await this.pingInTime()
      const latencyMs = Math.round((performance.now() - startedAt) * 10) / 10
      const database = { ok: true as const, latency_ms: latencyMs }
      this.lookAtLogs(startedAt)
      if (!this.logs.areLost) return { status: 'ok', version, checks: { database } }
      return { status: 'ok', degraded: true, version, checks: { database, logs: { ok: false, reason: lostReason } } }
    } catch (error) {
      const reason = isStorageFull(error) ? { reason: 'storage is full' as const } : {}
      return { status: 'unavailable', version, checks: { database: { ok: false, ...reason } } }
    }
  }

  /**
   * Checks the logs beside the response: the check takes a connection of the pool, and health must not wait for one.
   */
  private lookAtLogs(now: number): void {
    const { logs } = this
    if (logs.isLooking || now - logs.lookedAt < logsFreshMs) return
    logs.isLooking = true
    this.options
      .areLogsLost()
      .then(
        (areLost) => Object.assign(logs, { areLost, lookedAt: performance.now() }),
        // The next request checks again.
        () => {},
      )
      .finally(() => {
        logs.isLooking = false
      })
  }

  private async pingInTime(): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error('The database did not respond in time.')), this.options.timeoutMs)
    try {
      await Promise.race([this.options.pingDatabase(), late])
    } finally {
      clearTimeout(timer)
    }
  }
}
