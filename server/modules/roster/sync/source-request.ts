import { rosterPullPauseMs, rosterPullRetryAfterSecondsMax, rosterPullTriesMax } from '../../../../contract/limits.ts'
import type { ScimSourceAnswer } from '../../identity/scim/scim-source-types.ts'
import type { SyncAttempt } from './sync-attempt.ts'
import { SyncFailed, type SyncPosition } from './sync-state.ts'
import { TimeSliceEnded, timeSliceMs } from './sync-time-slice.ts'

/**
 * Asks a directory once. Nobody waits for it in a place that others need: while its failure may pass, the turn of the
 * sync ends, and the next one begins after a growing pause, or after what the directory asks for.
 *
 * Answers what it said, or what is wrong with it for good. Throws {@link TimeSliceEnded}, {@link SyncFailed} when it was asked
 * too often, or the reason of the signal.
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
  throw new TimeSliceEnded({ pauseMs: Math.max(wantedMs, rosterPullPauseMs * 2 ** asks), asks: asks + 1 })
}
