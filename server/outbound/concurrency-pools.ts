/**
 * The pool of a call; it limits concurrent calls, because each waits for its receiver. `quick` is for receivers that
 * should answer soon, `slow` for those whose last call took long or failed.
 */
export type ConcurrencyPool = 'quick' | 'slow'

/** The limits of this process. */
export interface PoolSizes {
  /** Slots of each pool that every tenant has for itself. */
  ownPlaces: number
  /** Slots of each pool that all tenants share beyond those. */
  sharedPlaces: number
  /** Maximum bytes in transit to the receivers of one tenant, in each pool. */
  tenantBytesMax: number
}

/** The slot that one call holds. */
export interface PoolSlot {
  readonly lane: ConcurrencyPool
  /** Moves to the slow pool, and returns true; stays and returns false if the slow pool has no room. */
  slowDown(): boolean
  free(): void
}

export interface ConcurrencyPools {
  /**
   * Returns how many more calls a tenant may start.
   *
   * @param bytes memory that each of them needs
   */
  room(lane: ConcurrencyPool, tenantId: string, bytes: number): number
  /** Takes a slot, even without room. */
  take(lane: ConcurrencyPool, tenantId: string, bytes: number): PoolSlot
}

/**
 * Assigns slots. A tenant's own slots are free regardless of other tenants and their slow receivers. A tenant holds at
 * most a quarter of the shared slots that it leaves free, so one tenant alone has many, and many share fairly. Switches
 * share their buffers in the same way (dynamic thresholds; Choudhury and Hahne 1998).
 */
export function createConcurrencyPools({ ownPlaces, sharedPlaces, tenantBytesMax }: PoolSizes): ConcurrencyPools {
  const shared: Record<ConcurrencyPool, number> = { quick: 0, slow: 0 }
  const held: Record<ConcurrencyPool, Map<string, number>> = { quick: new Map(), slow: new Map() }

  const heldBy = (lane: ConcurrencyPool, tenantId: string) => held[lane].get(tenantId) ?? 0
  const sharedOf = (count: number) => Math.max(0, count - ownPlaces)

  function change(lane: ConcurrencyPool, tenantId: string, by: 1 | -1): void {
    const before = heldBy(lane, tenantId)
    shared[lane] += sharedOf(before + by) - sharedOf(before)
    if (before + by === 0) held[lane].delete(tenantId)
    else held[lane].set(tenantId, before + by)
  }

  function room(lane: ConcurrencyPool, tenantId: string, bytes: number): number {
    const mine = heldBy(lane, tenantId)
    const free = sharedPlaces - shared[lane]
    // The most that still leaves it with a quarter of the then free slots.
    const more = Math.max(0, Math.floor((free - 4 * sharedOf(mine)) / 5))
    const inMemory = Math.max(1, Math.floor(tenantBytesMax / Math.max(1, bytes)))
    return Math.max(0, Math.min(Math.max(0, ownPlaces - mine) + more, inMemory - mine))
  }

  return {
    room,
    take(lane, tenantId, bytes) {
      let now = lane
      change(now, tenantId, 1)
      return {
        get lane() {
          return now
        },
        slowDown() {
          if (now === 'slow') return true
          if (room('slow', tenantId, bytes) === 0) return false
          change(now, tenantId, -1)
          now = 'slow'
          change(now, tenantId, 1)
          return true
        },
        free: () => change(now, tenantId, -1),
      }
    },
  }
}
