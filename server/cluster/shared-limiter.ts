import type { DatabaseLog } from '../db/database.ts'
import { type Charge, MemoryRateLimiter, type RateDecision, type RateLimiter } from '../http/rate-limiter.ts'

/** What a worker asks of the one limiter: everything of one turn of its event loop. */
export interface LimiterRequest {
  kind: 'limiter-request'
  batch: number
  takes: (readonly Charge[])[]
  refunds: [charges: readonly Charge[], takenAtMs: number][]
}

/**
 * Decisions in the order of the takes: whether allowed, seconds to wait, when taken; then for each charge what remains
 * and the seconds until more does. Bare numbers, since there is one for every request of the service.
 */
export interface LimiterAnswer {
  kind: 'limiter-answer'
  batch: number
  decisions: number[][]
}

/** Counts in the primary what the workers ask for: so the limits of a machine are exact, whoever serves. */
export async function answerWorker(limiter: RateLimiter, request: LimiterRequest): Promise<LimiterAnswer> {
  for (const [charges, takenAtMs] of request.refunds) await limiter.refund(charges, takenAtMs)
  const decisions = await Promise.all(request.takes.map(async (charges) => encode(await limiter.take(charges))))
  return { kind: 'limiter-answer', batch: request.batch, decisions }
}

function encode({ allowed, retryAfterSeconds, takenAtMs, policies }: RateDecision): number[] {
  return [
    allowed ? 1 : 0,
    retryAfterSeconds,
    takenAtMs,
    ...policies.flatMap(({ remaining, resetSeconds }) => [remaining, resetSeconds]),
  ]
}

function decode(
  [allowed, retryAfterSeconds = 1, takenAtMs = 0, ...rest]: number[],
  charges: readonly Charge[],
): RateDecision {
  return {
    allowed: allowed === 1,
    retryAfterSeconds,
    takenAtMs,
    policies: charges.map(({ policy, quota }, index) => ({
      policy,
      quota,
      remaining: rest[2 * index] ?? 0,
      resetSeconds: rest[2 * index + 1] ?? 1,
    })),
  }
}

interface Waiting {
  charges: readonly Charge[]
  resolve(decision: RateDecision): void
}

interface WorkerLimiterOptions {
  send(request: LimiterRequest): void
  /** Among how many the limits are shared while the primary does not answer. */
  workers: number
  log: Pick<DatabaseLog, 'warn' | 'info'>
  /** How long an answer may take. */
  patienceMs?: number
}

/**
 * The limiter of a worker: asks the primary, and decides alone, within its share of each limit, while the primary does
 * not answer in time. Then the workers together let through at most one more quota than the limit.
 */
export class WorkerLimiter implements RateLimiter {
  private readonly options: Required<WorkerLimiterOptions>
  private readonly share = new MemoryRateLimiter()
  /** Charges that were counted here: their refund belongs here too. */
  private readonly countedHere = new WeakSet<readonly Charge[]>()
  private readonly sent = new Map<number, { waiting: Waiting[]; timer: NodeJS.Timeout }>()
  private takes: Waiting[] = []
  private refunds: LimiterRequest['refunds'] = []
  private scheduled = false
  private batch = 0
  /** The batch that the primary owes an answer for; meanwhile nobody else waits for it in vain. */
  private overdue: number | undefined

  constructor(options: WorkerLimiterOptions) {
    this.options = { patienceMs: 1000, ...options }
  }

  take(charges: readonly Charge[]): Promise<RateDecision> {
    if (this.overdue !== undefined) return this.takeHere(charges)
    return new Promise((resolve) => {
      this.takes.push({ charges, resolve })
      this.schedule()
    })
  }

  async refund(charges: readonly Charge[], takenAtMs: number): Promise<void> {
    if (this.countedHere.has(charges)) return this.share.refund(charges.map(this.shareOf), takenAtMs)
    this.refunds.push([charges, takenAtMs])
    this.schedule()
  }

  /** To be called with each answer of the primary. One that comes late decides nothing any more. */
  answer({ batch, decisions }: LimiterAnswer): void {
    const sent = this.sent.get(batch)
    this.sent.delete(batch)
    clearTimeout(sent?.timer)
    sent?.waiting.forEach(({ charges, resolve }, index) => void resolve(decode(decisions[index] ?? [], charges)))
    if (this.overdue === undefined || batch < this.overdue) return
    this.overdue = undefined
    this.options.log.info({}, 'the primary answers again: rate limits are exact')
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
      // After a turn in which this worker itself was busy, the answer may be there unread: it is read before.
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
      this.options.log.warn(
        { patienceMs, workers },
        'the primary does not answer: each worker allows its share of the limits',
      )
    }
    this.overdue = Math.max(this.overdue ?? 0, batch)
    for (const { charges, resolve } of sent.waiting) void this.takeHere(charges).then(resolve)
  }

  private async takeHere(charges: readonly Charge[]): Promise<RateDecision> {
    const decision = await this.share.take(charges.map(this.shareOf))
    if (decision.allowed) this.countedHere.add(charges)
    return decision
  }

  /** A share of a limit above 0 stays above 0. */
  private readonly shareOf = (charge: Charge): Charge => ({
    ...charge,
    quota: Math.ceil(charge.quota / this.options.workers),
  })
}
