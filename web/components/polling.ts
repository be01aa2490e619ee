import { HubProblem } from '../api/problem.ts'

/** Factor by which polling slows down after the Hub has limited it. */
export const slowerTimes = 5

interface Polled {
  state: {
    /** The reason of the latest failure, while another attempt is in flight. */
    fetchFailureReason: unknown
    error: unknown
  }
}

/**
 * Returns options of a polled query: every `everyMs` milliseconds, slower when rate-limited, and not at all while the
 * page is hidden.
 */
export function pollEvery(everyMs: number, isLive: boolean) {
  return {
    refetchInterval: isLive
      ? ({ state }: Polled) => pollAfter(everyMs, state.fetchFailureReason ?? state.error)
      : false,
    refetchIntervalInBackground: false,
  } as const
}

function pollAfter(everyMs: number, failure: unknown): number {
  return failure instanceof HubProblem && failure.status === 429 ? everyMs * slowerTimes : everyMs
}
