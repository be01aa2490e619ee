import { setImmediate } from 'node:timers/promises'

const readingMsMax = 5

/** To be awaited in the middle of long reading: lets the rest of the process have its turn where it has waited. */
export function createEventLoopYielder(): () => Promise<void> {
  let beganMs = performance.now()
  return async () => {
    if (performance.now() - beganMs < readingMsMax) return
    await setImmediate()
    beganMs = performance.now()
  }
}
