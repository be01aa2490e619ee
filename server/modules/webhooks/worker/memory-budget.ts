/**
 * Limits the bytes of deliveries that this process has read and not finished. Every tenant has a budget of its own. Of
 * the shared budget a tenant holds at most a quarter of what it leaves free, as `concurrency-pools.ts` shares slots:
 * one tenant alone has much, and many share fairly.
 */
export interface MemoryBudget {
  /** Returns the bytes that a tenant may read now. */
  room(tenantId: string): number
  hold(tenantId: string, bytes: number): void
  free(tenantId: string, bytes: number): void
}

export function createMemoryBudget({ ownBytes, sharedBytes }: { ownBytes: number; sharedBytes: number }): MemoryBudget {
  const held = new Map<string, number>()
  let shared = 0
  const sharedOf = (bytes: number) => Math.max(0, bytes - ownBytes)

  function change(tenantId: string, by: number): void {
    const before = held.get(tenantId) ?? 0
    const after = before + by
    shared += sharedOf(after) - sharedOf(before)
    if (after === 0) held.delete(tenantId)
    else held.set(tenantId, after)
  }

  return {
    room(tenantId) {
      const mine = held.get(tenantId) ?? 0
      const more = Math.max(0, Math.floor((sharedBytes - shared - 4 * sharedOf(mine)) / 5))
      return Math.max(0, ownBytes - mine) + more
    },
    hold: (tenantId, bytes) => change(tenantId, bytes),
    free: (tenantId, bytes) => change(tenantId, -bytes),
  }
}
