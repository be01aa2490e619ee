import { setImmediate } from 'node:timers/promises'

const readingMsMax = 5

/** Returns a function that yields to the event loop if its caller has run for too long. Await it inside long loops. */
export function createEventLoopYielder(): () => Promise<void> {
  let beganMs = performance.now()
  return async () => {
    if (performance.now() - beganMs < readingMsMax) return
    await setImmediate()
    beganMs = performance.now()
  }
}
