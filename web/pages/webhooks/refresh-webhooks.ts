import { queryClient } from '../../api/query-client.ts'

/** Reads anew what pages show of endpoints and deliveries, after something was done to one. */
export function refreshWebhooks(): Promise<void> {
  return queryClient.invalidateQueries({
    predicate: ({ queryKey }) => String(queryKey[1]).startsWith('/api/v1/webhooks'),
  })
}
