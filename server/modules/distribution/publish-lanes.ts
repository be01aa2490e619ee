/**
 * Publishes wait for their receivers, so many go on at once. `quick` is for those that are expected to end within
 * {@link quickMsMax}, `slow` for those that took longer, or failed, last.
 */
export type Lane = 'quick' | 'slow'

/** Nobody keeps a place of the quick lane for longer. */
export const quickMsMax = 5_000
/** Places of each lane, in this process, that every tenant has for itself. */
const ownPlaces = 8
/** Places of each lane that all share beyond those. */
const sharedPlaces = 512
/** Of manifests that are on their way to the receivers of one tenant, in each lane. */
const tenantBytesMax = 64 * 1024 * 1024

/** What one publish holds. */
export interface Place {
  readonly lane: Lane
  /** Goes over to the slow lane; answers false where that has no room, and then stays. */
  slowDown(): boolean
  free(): void
}

export interface PublishLanes {
  /** How many more publishes a tenant may begin. @param manifestBytes what each of them keeps in memory */
  room(lane: Lane, tenantId: string, manifestBytes: number): number
  /** Whether there is room or not. */
  take(lane: Lane, tenantId: string, manifestBytes: number): Place
}

/**
 * Who gets the places. The tenant's own are there whatever others do: however many receivers of theirs are slow, its
 * own are published to. Of the shared ones a tenant holds a quarter of what it leaves free at most, as switches share
 * out their buffers (dynamic thresholds; Choudhury and Hahne 1998): one alone has enough for every connector, and many
 * share fairly.
 */
export function createPublishLanes(): PublishLanes {
  const shared: Record<Lane, number> = { quick: 0, slow: 0 }
  const held: Record<Lane, Map<string, number>> = { quick: new Map(), slow: new Map() }

  const heldBy = (lane: Lane, tenantId: string) => held[lane].get(tenantId) ?? 0
  const sharedOf = (count: number) => Math.max(0, count - ownPlaces)

  function change(lane: Lane, tenantId: string, by: 1 | -1): void {
    const before = heldBy(lane, tenantId)
    shared[lane] += sharedOf(before + by) - sharedOf(before)
    if (before + by === 0) held[lane].delete(tenantId)
    else held[lane].set(tenantId, before + by)
  }

  function room(lane: Lane, tenantId: string, manifestBytes: number): number {
    const mine = heldBy(lane, tenantId)
    const free = sharedPlaces - shared[lane]
    // As many more as leave it with a quarter of what is free then.
    const more = Math.max(0, Math.floor((free - 4 * sharedOf(mine)) / 5))
    const inMemory = Math.max(1, Math.floor(tenantBytesMax / Math.max(1, manifestBytes)))
    return Math.max(0, Math.min(Math.max(0, ownPlaces - mine) + more, inMemory - mine))
  }

  return {
    room,
    take(lane, tenantId, manifestBytes) {
      let now = lane
      change(now, tenantId, 1)
      return {
        get lane() {
          return now
        },
        slowDown() {
          if (now === 'slow') return true
          if (room('slow', tenantId, manifestBytes) === 0) return false
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
