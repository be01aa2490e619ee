import { setImmediate } from 'node:timers/promises'

/**
 * Returns a function that yields to the event loop if its caller has run for too long. Await it inside long loops.
 *
 * @param workMsMax milliseconds that other requests may wait; one passes through several turns of the event loop
 */
export function createEventLoopYielder(workMsMax = 5): () => Promise<void> {
  let beganMs = performance.now()
  return async () => {
    if (performance.now() - beganMs < workMsMax) return
    await setImmediate()
    beganMs = performance.now()
  }
}

/** Runs work that yields periodically, in turns with other work of the process. */
export async function runYielding<Result>(work: Generator<void, Result>): Promise<Result> {
  const yieldIfLong = createEventLoopYielder()
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    await yieldIfLong()
  }
}

/** Runs work that yields periodically to its end, without a pause. */
export function runToEnd<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}
