import { setTimeout as delay } from 'node:timers/promises'

/** Limits work to a rate. */
export interface Throttle {
  /** Accounts for the cost, and waits until the rate permits more. Returns early if stopped. */
  spend(cost: number, signal: AbortSignal): Promise<void>
}

/** Milliseconds of credit for the time that the work itself takes. Unused capacity beyond it expires. */
const slackMs = 1_000

/** @param perSecond the maximum cost per second */
export function createThrottle(perSecond: number, nowMs = () => performance.now(), wait = pause): Throttle {
  let freeAtMs = 0
  return {
    async spend(cost, signal) {
      freeAtMs = Math.max(freeAtMs, nowMs() - slackMs) + (cost / perSecond) * 1000
      await wait(freeAtMs - nowMs(), signal)
    },
  }
}

/** Waits without keeping the process alive. Returns early if stopped. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return
  await delay(ms, undefined, { signal, ref: false }).catch(() => {})
}
