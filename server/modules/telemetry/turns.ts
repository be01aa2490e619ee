import { setImmediate } from 'node:timers/promises'

/** How long other requests may wait for the decoding of sketches and deltas. */
const readingMsMax = 5

/** Lets other work of the process have its turn in the middle of long decoding or folding. */
export interface Turn {
  endIfLong(): Promise<void>
}

/** @param turnMsMax how long others may wait; a request comes by several turns */
export function createTurn(turnMsMax = readingMsMax): Turn {
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
