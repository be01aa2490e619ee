/** Milliseconds after which a tenant that was not looked at counts as still waiting. */
const staleMs = 30_000

type Stage = 'queued' | 'due'

/** Records how long undelivered messages have waited, as of the last look at each tenant. */
export interface QueueAge {
  /** Records the milliseconds that the oldest message of a tenant has waited; 0 without one. */
  seen(stage: Stage, tenantId: string, waitedMs: number): void
  forget(tenantId: string): void
  /** Returns the longest wait of all tenants, in seconds: for messages in the outbox, and for due deliveries. */
  longest(): Record<Stage, number>
}

export function createQueueAge(nowMs: () => number): QueueAge {
  const stages = {
    queued: new Map<string, { waitedMs: number; atMs: number }>(),
    due: new Map<string, { waitedMs: number; atMs: number }>(),
  }

  function longestOf(stage: Stage): number {
    let longestMs = 0
    for (const { waitedMs, atMs } of stages[stage].values()) {
      const sinceMs = nowMs() - atMs
      longestMs = Math.max(longestMs, sinceMs > staleMs ? waitedMs + sinceMs : waitedMs)
    }
    return longestMs / 1000
  }

  return {
    seen(stage, tenantId, waitedMs) {
      if (waitedMs > 0) stages[stage].set(tenantId, { waitedMs, atMs: nowMs() })
      else stages[stage].delete(tenantId)
    },
    forget(tenantId) {
      stages.queued.delete(tenantId)
      stages.due.delete(tenantId)
    },
    longest: () => ({ queued: longestOf('queued'), due: longestOf('due') }),
  }
}
