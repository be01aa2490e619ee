import { setTimeout as delay } from 'node:timers/promises'
import { rosterPullPauseMs, rosterPullRetryAfterSecondsMax, rosterPullTriesMax } from '../../../../contract/limits.ts'
import type { ScimSourceAnswer } from '../../identity/scim/scim-source-types.ts'
import { SyncFailed } from './sync-state.ts'

/** Asks a directory, and asks again after growing pauses, or after what it asks for, while the failure may pass. */
export interface SourceAsking {
  /**
   * Undefined when the answer is too large. Throws {@link SyncFailed}, or the reason of the signal.
   *
   * @param noted hears of every answer that is to be asked for again
   */
  ask<T>(work: () => Promise<ScimSourceAnswer<T>>, signal: AbortSignal): Promise<T | undefined>
}

/** @param pauseMs before the second time; doubled each time */
export function createSourceAsking(pauseMs = rosterPullPauseMs): SourceAsking {
  return {
    async ask(work, signal) {
      for (let tries = 1; ; tries += 1) {
        signal.throwIfAborted()
        const answer = await work()
        if (answer.ok) return answer.value
        const { kind, detail, isPassing, retryAfterMs } = answer.problem
        if (kind === 'too-large') return undefined
        if (!isPassing) throw new SyncFailed(detail)
        if (tries >= rosterPullTriesMax) throw new SyncFailed(`${detail} So it was ${tries} times.`)
        const wanted = Math.min(retryAfterMs ?? 0, rosterPullRetryAfterSecondsMax * 1000)
        await delay(Math.max(wanted, pauseMs * 2 ** (tries - 1)), undefined, { signal })
      }
    },
  }
}
