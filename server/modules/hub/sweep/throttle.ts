import { setTimeout as delay } from 'node:timers/promises'

/** Keeps work to a rate. */
export interface Throttle {
  /** Spends what was used, and waits until it is made up for. Returns early when stopped. */
  spend(cost: number): Promise<void>
}

/** So that the time that the work itself takes is not waited for again; what was not used before is not made up for. */
const slackMs = 1_000

/** @param perSecond what may be spent in a second */
export function createThrottle(
  perSecond: number,
  signal: AbortSignal,
  nowMs = () => performance.now(),
  wait: (ms: number, signal: AbortSignal) => Promise<void> = pause,
): Throttle {
  let freeAtMs = 0
  return {
    async spend(cost) {
      freeAtMs = Math.max(freeAtMs, nowMs() - slackMs) + (cost / perSecond) * 1000
      await wait(freeAtMs - nowMs(), signal)
    },
  }
}

/** Waits, without keeping the process alive; returns early when stopped. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return
  await delay(ms, undefined, { signal, ref: false }).catch(() => {})
}
