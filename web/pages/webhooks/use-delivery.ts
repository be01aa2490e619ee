import { api } from '../../api/api-client.ts'

/**
 * Polling intervals in milliseconds. Most receivers respond at once; a slow one is polled less often, because calls are
 * limited.
 */
const pollMs = { atFirst: 500, later: 2000 }
const firstLooks = 3

/** Returns a delivery, polled until its result is known. */
export function useDelivery(webhookId: string, deliveryId: string | undefined) {
  return api.useQuery(
    'get',
    '/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}',
    { params: { path: { webhook_id: webhookId, delivery_id: deliveryId ?? '' } } },
    {
      enabled: deliveryId !== undefined,
      refetchInterval: ({ state }) => {
        if (state.data?.status !== 'pending') return false
        return state.dataUpdateCount < firstLooks ? pollMs.atFirst : pollMs.later
      },
    },
  )
}
