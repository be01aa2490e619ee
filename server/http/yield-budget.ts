import { setImmediate } from 'node:timers/promises'

/** Milliseconds that other requests may wait for long work of one. */
const turnMsMaxDefault = 5

/** Yields to the event loop in the middle of long work. */
export interface YieldBudget {
  endIfLong(): Promise<void>
}

/** @param turnMsMax milliseconds that others may wait; a request passes through several turns */
export function createYieldBudget(turnMsMax = turnMsMaxDefault): YieldBudget {
  let beganMs = performance.now()
  return {
    async endIfLong(): Promise<void> {
      const nowMs = performance.now()
      if (nowMs - beganMs < turnMsMax) return
      await setImmediate()
      beganMs = performance.now()
    },
  }
}

/** Runs work that yields periodically, in turns with other work of the process. */
export async function runYielding<Result>(work: Generator<void, Result>): Promise<Result> {
  const turn = createYieldBudget()
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    await turn.endIfLong()
  }
}

/** Runs work that yields periodically to its end, without a pause. */
export function runToEnd<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}
