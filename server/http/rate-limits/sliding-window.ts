export const windowSeconds = 60

const windowMs = windowSeconds * 1000
const slotMs = 100
const slotsPerWindow = windowMs / slotMs

function slotOf(timeMs: number): number {
  return Math.floor(timeMs / slotMs)
}

/** Returns the whole seconds from now to then: at least 1, at most the window. */
export function waitSeconds(thenMs: number, nowMs: number): number {
  return Math.min(Math.max(1, Math.ceil((thenMs - nowMs) / 1000)), windowSeconds)
}

/**
 * Counts one window, per slot of 100 ms, oldest first (ADR 0005). Only slots with requests take room: at most 601 pairs
 * of numbers, and never more than the requests of the last minute.
 */
export class SlidingWindow {
  sum = 0
  /** The time of the last request of each slot. */
  private lastMs: number[] = []
  private counts: number[] = []
  private head = 0

  /** Drops slots that have left the window, and slots whose requests were all refunded. */
  expire(nowMs: number): void {
    while (this.head < this.lastMs.length) {
      if (goneAtMs(this.lastMs[this.head] as number) > nowMs && this.counts[this.head] !== 0) break
      this.sum -= this.counts[this.head] as number
      this.head++
    }
    if (this.head > slotsPerWindow) {
      this.lastMs = this.lastMs.slice(this.head)
      this.counts = this.counts.slice(this.head)
      this.head = 0
    }
  }

  add(nowMs: number): void {
    const last = this.lastMs.length - 1
    if (last >= this.head && slotOf(this.lastMs[last] as number) === slotOf(nowMs)) {
      this.lastMs[last] = nowMs
      this.counts[last] = (this.counts[last] as number) + 1
    } else {
      this.lastMs.push(nowMs)
      this.counts.push(1)
    }
    this.sum++
  }

  remove(takenAtMs: number): void {
    const index = this.lastMs.findLastIndex((time) => slotOf(time) === slotOf(takenAtMs))
    if (index < this.head || (this.counts[index] as number) === 0) return
    this.counts[index] = (this.counts[index] as number) - 1
    this.sum--
  }

  /** Returns when the oldest counted request leaves; 0 if nothing is counted. */
  nextExpiryMs(): number {
    const oldest = this.lastMs[this.head]
    return oldest === undefined ? 0 : goneAtMs(oldest)
  }

  /** Returns when the sum falls below the quota if nothing is added; 0 if it is below. */
  roomAtMs(quota: number): number {
    let left = this.sum
    if (left < quota) return 0
    for (let index = this.head; index < this.lastMs.length; index++) {
      left -= this.counts[index] as number
      if (left < quota) return goneAtMs(this.lastMs[index] as number)
    }
    // A quota of 0 never has room: check again after a window.
    return Number.POSITIVE_INFINITY
  }
}

/** Returns the time at which a slot with its last request at `lastMs` is entirely out of the window. */
function goneAtMs(lastMs: number): number {
  return lastMs + windowMs
}

/**
 * Holds counters by key, in two generations: a used one moves to the young generation. Once a minute, and when it is
 * full, the young generation becomes the old one, and the old one is dropped: after a minute nothing in it counts any
 * more. So there are never more than `max`, a turn has a constant cost, and at least the last `max / 2` used ones
 * remain.
 */
export class RecentWindows {
  private readonly max: number
  private young = new Map<string, SlidingWindow>()
  private old = new Map<string, SlidingWindow>()
  private turnedAtMs: number

  constructor(max: number, nowMs: number) {
    this.max = max
    this.turnedAtMs = nowMs
  }

  /** Returns the number of counters, at most `max`. */
  get size(): number {
    return this.young.size + this.old.size
  }

  /** Returns the counter of the key, an empty one if it is new. */
  use(key: string, nowMs: number): SlidingWindow {
    if (nowMs - this.turnedAtMs >= windowMs) this.turn(nowMs)
    const young = this.young.get(key)
    if (young) return young
    const window = this.old.get(key) ?? new SlidingWindow()
    if (this.young.size + 1 > this.max / 2) this.turn(nowMs)
    this.young.set(key, window)
    return window
  }

  find(key: string): SlidingWindow | undefined {
    return this.young.get(key) ?? this.old.get(key)
  }

  private turn(nowMs: number): void {
    this.turnedAtMs = nowMs
    this.old = this.young
    this.young = new Map()
  }
}
