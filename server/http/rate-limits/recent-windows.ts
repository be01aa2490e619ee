import { SlidingWindow, windowSeconds } from './sliding-window.ts'

const windowMs = windowSeconds * 1000

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
