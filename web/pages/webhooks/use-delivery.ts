import { api } from '../../api/api-client.ts'

/** Most receivers answer at once; a slow one is asked after less often, for calls are limited. */
const pollMs = { atFirst: 500, later: 2000 }
const firstLooks = 3

/** A delivery, read anew until it has its outcome. */
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
