import { setTimeout as delay } from 'node:timers/promises'

/** Keeps work to a rate. */
export interface Pace {
  /** Spends what was used, and waits until it is made up for. Returns early when stopped. */
  spend(cost: number): Promise<void>
}

/**
 * What is not used is not saved up: after a pause the rate is no higher.
 *
 * @param perSecond what may be spent in a second
 */
export function createPace(perSecond: number, signal: AbortSignal, nowMs = () => performance.now()): Pace {
  let freeAtMs = 0
  return {
    async spend(cost) {
      freeAtMs = Math.max(freeAtMs, nowMs()) + (cost / perSecond) * 1000
      await pause(freeAtMs - nowMs(), signal)
    },
  }
}

/** Waits, without keeping the process alive; returns early when stopped. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return
  await delay(ms, undefined, { signal, ref: false }).catch(() => {})
}
