import { backoff } from '../../../../contract/backoff.ts'
import { rosterPullPauseMs, rosterPullRetryAfterSecondsMax, rosterPullTriesMax } from '../../../../contract/limits.ts'
import type { ScimSourceAnswer } from '../../identity/scim/scim-source-types.ts'
import type { SyncAttempt } from './sync-attempt.ts'
import { SyncFailed, type SyncPosition } from './sync-state.ts'
import { TimeSliceEnded, timeSliceMs } from './sync-time-slice.ts'

/**
 * Sends one request to a directory. A transient failure ends the time slice of the sync instead of blocking a slot that
 * others need; the next slice begins after a growing pause, or after the time the directory requests.
 *
 * Returns the response or a permanent problem. Throws {@link TimeSliceEnded}, {@link SyncFailed} after too many
 * requests, or the reason of the signal.
 */
export async function requestSource<T>(
  attempt: SyncAttempt,
  { asks }: Pick<SyncPosition, 'asks'>,
  work: (signal: AbortSignal) => Promise<ScimSourceAnswer<T>>,
): Promise<ScimSourceAnswer<T>> {
  attempt.signal.throwIfAborted()
  const late = attempt.turn.lane === 'quick' ? AbortSignal.timeout(timeSliceMs) : undefined
  const answer = await work(late ? AbortSignal.any([attempt.signal, late]) : attempt.signal).catch((error: unknown) => {
    if (late?.aborted && !attempt.signal.aborted) throw new TimeSliceEnded({ lane: 'slow', asks })
    throw error
  })
  if (answer.ok || !answer.problem.isPassing) return answer
  const { detail, retryAfterMs = 0 } = answer.problem
  if (asks + 1 >= rosterPullTriesMax) throw new SyncFailed(`${detail} So it was ${asks + 1} times.`)
  const wantedMs = Math.min(retryAfterMs, rosterPullRetryAfterSecondsMax * 1000)
  throw new TimeSliceEnded({ pauseMs: Math.max(wantedMs, backoff(asks, { first: rosterPullPauseMs })), asks: asks + 1 })
}
