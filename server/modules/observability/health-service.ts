import { isStorageFull } from '../../../contract/domain-error.ts'

export interface Health {
  status: 'ok' | 'unavailable'
  version: string
  checks: { database: { ok: boolean; latency_ms?: number; reason?: 'storage is full' } }
}

interface HealthOptions {
  version: string
  /** Asks the database for anything; rejects when it is away. */
  pingDatabase: () => Promise<void>
  /** A database that has not answered by then counts as away. */
  timeoutMs?: number
  /** Anyone may ask, so an answer serves for that long. */
  freshMs?: number
}

/** How the service is. Many who ask at once cost one look. */
export class HealthService {
  private readonly options: Required<HealthOptions>
  private latest: { at: number; health: Promise<Health> } | undefined

  constructor(options: HealthOptions) {
    this.options = { timeoutMs: 2000, freshMs: 500, ...options }
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
      return { status: 'ok', version, checks: { database: { ok: true, latency_ms: latencyMs } } }
    } catch (error) {
      const reason = isStorageFull(error) ? { reason: 'storage is full' as const } : {}
      return { status: 'unavailable', version, checks: { database: { ok: false, ...reason } } }
    }
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
