import { setImmediate } from 'node:timers/promises'

/** How long other requests may wait for the decoding of sketches and deltas. */
const turnMsMax = 5

/** Lets other work of the process have its turn in the middle of long decoding. */
export function createTurn() {
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
