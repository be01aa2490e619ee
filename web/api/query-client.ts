import { QueryClient } from '@tanstack/react-query'
import { HubProblem, isPassing } from './problem.ts'

const attemptsMax = 4
const longestWaitMs = 30_000

/**
 * What pages know of the Hub. What may pass is tried again, as late as the Hub asks for; what was revoked once, with a
 * new token; everything else is shown at once.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry: (failures, error) =>
        isPassing(error) ? failures < attemptsMax : error instanceof HubProblem && error.status === 401 && failures < 1,
      retryDelay: (failures, error) =>
        Math.min(
          longestWaitMs,
          error instanceof HubProblem && error.retryAfterSeconds !== undefined
            ? error.retryAfterSeconds * 1000
            : 500 * 2 ** failures,
        ),
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})
