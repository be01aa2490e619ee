import { isStorageFull } from '../../../contract/domain-error.ts'

export interface Health {
  status: 'ok' | 'unavailable'
  /** Requests are answered, and a check is not ok. */
  degraded?: true
  version: string
  checks: {
    database: { ok: boolean; latency_ms?: number; reason?: 'storage is full' }
    logs?: { ok: false; reason: string }
  }
}

interface HealthOptions {
  version: string
  /** Asks the database for anything; rejects when it is away. */
  pingDatabase: () => Promise<void>
  /** Whether logs that were kept outside of the database are gone. */
  areLogsLost?: () => Promise<boolean>
  /** A database that has not answered by then counts as away. */
  timeoutMs?: number
  /** Anyone may ask, so an answer serves for that long. */
  freshMs?: number
}

/** Names no tenant: anyone may ask. */
const lostReason =
  'Logs that were kept outside of the database are gone from it, or their files are. See `hub log audit`.'
const logsFreshMs = 5_000

/** How the service is. Many who ask at once cost one look. */
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
      const database = { ok: true, latency_ms: latencyMs }
      this.lookAtLogs(startedAt)
      if (!this.logs.areLost) return { status: 'ok', version, checks: { database } }
      return { status: 'ok', degraded: true, version, checks: { database, logs: { ok: false, reason: lostReason } } }
    } catch (error) {
      const reason = isStorageFull(error) ? { reason: 'storage is full' as const } : {}
      return { status: 'unavailable', version, checks: { database: { ok: false, ...reason } } }
    }
  }

  /** Beside the answer: it takes a connection of the pool, for which health does not wait. */
  private lookAtLogs(now: number): void {
    const { logs } = this
    if (logs.isLooking || now - logs.lookedAt < logsFreshMs) return
    logs.isLooking = true
    this.options
      .areLogsLost()
      .then(
        (areLost) => Object.assign(logs, { areLost, lookedAt: performance.now() }),
        // The next question looks again.
        () => {},
      )
      .finally(() => {
        logs.isLooking = false
      })
  }

  private async pingInTime(): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error('The database did not answer in time.')), this.options.timeoutMs)
    try {
      await Promise.race([this.options.pingDatabase(), late])
    } finally {
      clearTimeout(timer)
    }
  }
}
