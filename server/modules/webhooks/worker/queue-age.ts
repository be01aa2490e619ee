/** A tenant that was not looked at for longer may wait all the while. */
const staleMs = 30_000

type Stage = 'queued' | 'due'

/** How long what is to be delivered has waited, as was seen when tenants were looked at last. */
export interface QueueAge {
  /** How long the oldest message of a tenant has; 0 where none waits. */
  seen(stage: Stage, tenantId: string, waitedMs: number): void
  forget(tenantId: string): void
  /** Of all tenants, in seconds: messages that are no deliveries yet, and deliveries that are due. */
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
