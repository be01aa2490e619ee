/**
 * Calls wait for their receivers, so many go on at once. `quick` is for those that are expected to end soon, `slow` for
 * those that took longer, or failed, last.
 */
export type ConcurrencyPool = 'quick' | 'slow'

/** In this process. */
export interface PoolSizes {
  /** Places of each lane that every tenant has for itself. */
  ownPlaces: number
  /** Places of each lane that all share beyond those. */
  sharedPlaces: number
  /** Of what is on its way to the receivers of one tenant, in each lane. */
  tenantBytesMax: number
}

/** What one call holds. */
export interface PoolSlot {
  readonly lane: ConcurrencyPool
  /** Goes over to the slow lane; answers false where that has no room, and then stays. */
  slowDown(): boolean
  free(): void
}

export interface ConcurrencyPools {
  /** How many more calls a tenant may begin. @param bytes what each of them keeps in memory */
  room(lane: ConcurrencyPool, tenantId: string, bytes: number): number
  /** Whether there is room or not. */
  take(lane: ConcurrencyPool, tenantId: string, bytes: number): PoolSlot
}

/**
 * Who gets the places. The tenant's own are there whatever others do: however many receivers of theirs are slow, its
 * own are called. Of the shared ones a tenant holds a quarter of what it leaves free at most, as switches share out
 * their buffers (dynamic thresholds; Choudhury and Hahne 1998): one alone has many, and many share fairly.
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
    // As many more as leave it with a quarter of what is free then.
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
