/** Milliseconds after which a tenant that was not looked at counts as still waiting. */
const staleMs = 30_000

type Stage = 'queued' | 'due'

/** Records how long undelivered messages have waited, as of the last look at each tenant. */
export class QueueAge {
  readonly #stages = {
    queued: new Map<string, { waitedMs: number; atMs: number }>(),
    due: new Map<string, { waitedMs: number; atMs: number }>(),
  }
  readonly #nowMs: () => number

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Records the milliseconds that the oldest message of a tenant has waited; 0 without one. */
  seen(stage: Stage, tenantId: string, waitedMs: number): void {
    if (waitedMs > 0) this.#stages[stage].set(tenantId, { waitedMs, atMs: this.#nowMs() })
    else this.#stages[stage].delete(tenantId)
  }

  forget(tenantId: string): void {
    for (const stage of Object.values(this.#stages)) stage.delete(tenantId)
  }

  /** Returns the longest wait of all tenants, in seconds: for messages in the outbox, and for due deliveries. */
  longest(): Record<Stage, number> {
    return { queued: this.#longestOf('queued'), due: this.#longestOf('due') }
  }

  #longestOf(stage: Stage): number {
    let longestMs = 0
    for (const { waitedMs, atMs } of this.#stages[stage].values()) {
      const sinceMs = this.#nowMs() - atMs
      longestMs = Math.max(longestMs, sinceMs > staleMs ? waitedMs + sinceMs : waitedMs)
    }
    return longestMs / 1000
  }
}
