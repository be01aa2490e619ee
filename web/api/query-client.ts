import { QueryClient } from '@tanstack/react-query'
import { HubProblem, isTransient } from './problem.ts'

const attemptsMax = 4
const longestWaitMs = 30_000
/** The Hub's windows are a minute; a wait beyond two of them is a fault, and nobody would wait for it. */
const longestAskedSeconds = 120

/**
 * What pages know of the Hub. What may pass is tried again, as late as the Hub asks for; what was revoked once, with a
 * new token; everything else is shown at once.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry: (failures, error) =>
        isTransient(error)
          ? failures < attemptsMax
          : error instanceof HubProblem && error.status === 401 && failures < 1,
      retryDelay: (failures, error) =>
        error instanceof HubProblem && error.retryAfterSeconds !== undefined
          ? Math.min(longestAskedSeconds, error.retryAfterSeconds) * 1000
          : Math.min(longestWaitMs, 500 * 2 ** failures),
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})
