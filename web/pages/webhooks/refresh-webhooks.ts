import { queryClient } from '../../api/query-client.ts'

/** Reloads what pages show of endpoints and deliveries, after a change of one. */
export function refreshWebhooks(): Promise<void> {
  return queryClient.invalidateQueries({
    predicate: ({ queryKey }) => String(queryKey[1]).startsWith('/api/v1/webhooks'),
  })
}
