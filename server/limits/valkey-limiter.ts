import type { Charge, RateDecision, RateLimiter } from '../http/rate-limits/rate-limiter.ts'
import { decisionOfNumbers } from './decision-numbers.ts'
import { FallbackLimiter } from './fallback-limiter.ts'
import type { ValkeyConnection } from './valkey-connection.ts'

/**
 * Limits all processes that use one Valkey or Redis. One script call decides all charges of a request, by the server's
 * clock, with the result of `MemoryRateLimiter` (ADR 0005). While Valkey is away, each process applies its share.
 */
export class ValkeyLimiter implements RateLimiter {
  private readonly valkey: Pick<ValkeyConnection, 'isUp' | 'call' | 'processes'>
  private readonly share: FallbackLimiter

  constructor(valkey: Pick<ValkeyConnection, 'isUp' | 'call' | 'processes'>) {
    this.valkey = valkey
    this.share = new FallbackLimiter(() => valkey.processes)
  }

  get sharers(): number {
    return this.valkey.processes
  }

  async take(charges: readonly Charge[]): Promise<RateDecision> {
    if (!this.valkey.isUp) return this.share.take(charges)
    try {
      const quotas = charges.map((charge) => charge.quota)
      return decisionOfNumbers(await this.valkey.call('consume', keysOf(charges), quotas), charges)
    } catch {
      return this.share.take(charges)
    }
  }

  /** Refunds charges. Charges that cannot be refunded because Valkey is away leave the window after a minute. */
  async refund(charges: readonly Charge[], takenAtMs: number): Promise<void> {
    if (FallbackLimiter.hasCounted(takenAtMs)) return this.share.refund(charges, takenAtMs)
    if (this.valkey.isUp) await this.valkey.call('refund', keysOf(charges), [takenAtMs]).catch(() => {})
  }
}

function keysOf(charges: readonly Charge[]): string[] {
  return charges.map((charge) => charge.key)
}
