import type { DatabaseLog } from '../db/database.ts'
import type { Charge, RateDecision, RateLimiter } from '../http/rate-limits/rate-limiter.ts'
import { type DecisionNumbers, decisionOfNumbers, numbersOfDecision } from '../limits/decision-numbers.ts'
import { FallbackLimiter } from '../limits/fallback-limiter.ts'

/** Carries everything that a worker requests of the shared limiter in one turn of its event loop. */
export interface LimiterRequest {
  kind: 'limiter-request'
  batch: number
  takes: (readonly Charge[])[]
  refunds: [charges: readonly Charge[], takenAtMs: number][]
}

/** The decisions in the order of `takes`. */
export interface LimiterResponse {
  kind: 'limiter-answer'
  batch: number
  decisions: DecisionNumbers[]
  /** Machines that share the limits. Workers need the number while the primary does not answer. */
  sharers: number
}

/**
 * Counts the requests of a worker in the primary, so the limits of a machine are exact regardless of the worker that
 * serves.
 */
export async function respondToWorker(limiter: RateLimiter, request: LimiterRequest): Promise<LimiterResponse> {
  // Calls complete in the order in which they start.
  const refunds = request.refunds.map(([charges, takenAtMs]) => limiter.refund(charges, takenAtMs))
  const decisions = await Promise.all(
    request.takes.map(async (charges) => numbersOfDecision(await limiter.take(charges))),
  )
  await Promise.all(refunds)
  return { kind: 'limiter-answer', batch: request.batch, decisions, sharers: limiter.sharers ?? 1 }
}

interface Waiting {
  charges: readonly Charge[]
  resolve(decision: RateDecision): void
}

interface WorkerLimiterOptions {
  send(request: LimiterRequest): void
  /** Workers that share the limits while the primary does not answer. */
  workers: number
  log: Pick<DatabaseLog, 'warn' | 'info'>
  /** Called when this worker starts and stops counting alone. */
  onFallback?: (isAlone: boolean) => void
  /** Milliseconds to wait for a response. */
  patienceMs?: number
}

/**
 * Limits requests in a worker: asks the primary, and falls back to the worker's share of each limit while the primary
 * does not answer in time. In a fallback the workers together admit at most one more quota than the limit.
 */
export class WorkerLimiter implements RateLimiter {
  private readonly options: Required<WorkerLimiterOptions>
  private readonly share: FallbackLimiter
  private machines = 1
  /** Charges that were counted here; their refund must be counted here too. */
  private readonly countedHere = new WeakSet<readonly Charge[]>()
  private readonly sent = new Map<number, { waiting: Waiting[]; timer: NodeJS.Timeout }>()
  private takes: Waiting[] = []
  private refunds: LimiterRequest['refunds'] = []
  private scheduled = false
  private batch = 0
  /** The batch whose response from the primary is late. Until it arrives, nobody else waits for the primary. */
  private overdue: number | undefined

  constructor(options: WorkerLimiterOptions) {
    this.options = { patienceMs: 1000, onFallback: () => {}, ...options }
    this.share = new FallbackLimiter(() => options.workers * this.machines)
  }

  take(charges: readonly Charge[]): Promise<RateDecision> {
    if (this.overdue !== undefined) return this.takeHere(charges)
    return new Promise((resolve) => {
      this.takes.push({ charges, resolve })
      this.schedule()
    })
  }

  async refund(charges: readonly Charge[], takenAtMs: number): Promise<void> {
    if (this.countedHere.has(charges)) return this.share.refund(charges, takenAtMs)
    this.refunds.push([charges, takenAtMs])
    this.schedule()
  }

  /** Handles a response of the primary. A late one decides nothing. */
  answer({ batch, decisions, sharers }: LimiterResponse): void {
    this.machines = sharers
    const sent = this.sent.get(batch)
    this.sent.delete(batch)
    clearTimeout(sent?.timer)
    sent?.waiting.forEach(
      ({ charges, resolve }, index) => void resolve(decisionOfNumbers(decisions[index] ?? [], charges)),
    )
    if (this.overdue === undefined || batch < this.overdue) return
    this.overdue = undefined
    this.options.onFallback(false)
    this.options.log.info({}, 'the primary responds again: rate limits are exact')
  }

  private schedule(): void {
    if (this.scheduled) return
    this.scheduled = true
    setImmediate(() => this.flush())
  }

  private flush(): void {
    const { takes, refunds } = this
    const batch = ++this.batch
    this.takes = []
    this.refunds = []
    this.scheduled = false
    if (takes.length > 0) {
      // If this worker was busy for a whole turn, the response may have arrived unread. `setImmediate` reads it first.
      const timer = setTimeout(() => setImmediate(() => this.giveUp(batch)), this.options.patienceMs).unref()
      this.sent.set(batch, { waiting: takes, timer })
    }
    this.options.send({ kind: 'limiter-request', batch, takes: takes.map((take) => take.charges), refunds })
  }

  private giveUp(batch: number): void {
    const sent = this.sent.get(batch)
    if (sent === undefined) return
    this.sent.delete(batch)
    if (this.overdue === undefined) {
      const { patienceMs, workers } = this.options
      this.options.onFallback(true)
      this.options.log.warn(
        { patienceMs, workers },
        'the primary does not respond: each worker applies its share of the limits',
      )
    }
    this.overdue = Math.max(this.overdue ?? 0, batch)
    for (const { charges, resolve } of sent.waiting) void this.takeHere(charges).then(resolve)
  }

  private async takeHere(charges: readonly Charge[]): Promise<RateDecision> {
    const decision = await this.share.take(charges)
    if (decision.allowed) this.countedHere.add(charges)
    return decision
  }
}
