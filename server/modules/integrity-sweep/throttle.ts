import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds of credit for the time that the work itself takes. Unused capacity beyond it expires. */
const slackMs = 1_000

export type Throttle = ReturnType<typeof createThrottle>

/**
 * Creates a limit of work to a rate.
 *
 * @param perSecond the maximum cost per second
 */
export function createThrottle(perSecond: number, nowMs = () => performance.now(), wait = pause) {
  let freeAtMs = 0
  return {
    /** Accounts for the cost, and waits until the rate permits more. Returns early if stopped. */
    async spend(cost: number, signal: AbortSignal): Promise<void> {
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
