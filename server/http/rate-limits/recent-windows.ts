import { SlidingWindow, windowSeconds } from './sliding-window.ts'

const windowMs = windowSeconds * 1000

/**
 * Counters by key, in two generations: what is used comes into the young one. Once a minute, and when it is full, the
 * young one becomes the old one, and the old one is let go: after a minute nothing in it counts any more. So there are
 * never more than `max`, a turn costs nothing that grows, and of those used last at least `max / 2` are kept.
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

  /** Counters held, at most `max`. */
  get size(): number {
    return this.young.size + this.old.size
  }

  /** The counter of the key, an empty one where there is none. */
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
