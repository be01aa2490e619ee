import { QueryClient } from '@tanstack/react-query'
import { backoff } from '../../contract/backoff.ts'
import { HubProblem, isTransient } from './problem.ts'

const attemptsMax = 4
const retryMs = { first: 500, max: 30_000 }
/** Maximum `Retry-After` that is obeyed. The Hub's windows last a minute; a wait beyond two of them is a fault. */
const longestAskedSeconds = 120

/**
 * The cache of the Hub's responses. Retries transient errors after the wait that the Hub requests, and a revoked token
 * once with a new one; shows every other error at once.
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
          : backoff(failures, retryMs),
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})
