import { HubProblem } from '../../api/problem.ts'

/** How many times slower it goes on after the Hub asked for fewer calls. */
export const slowerTimes = 5

interface Polled {
  state: {
    /** Of the latest attempt, while another is on its way. */
    fetchFailureReason: unknown
    error: unknown
  }
}

/**
 * Options of a query that is read again by itself: every so many milliseconds, slower while there are too many requests,
 * and not at all while nobody looks at the page.
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
