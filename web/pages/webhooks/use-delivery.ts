import { api } from '../../api/hub.ts'

const pollMs = 2000

/** A delivery, read anew until it has its outcome. */
export function useDelivery(webhookId: string, deliveryId: string | undefined) {
  return api.useQuery(
    'get',
    '/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}',
    { params: { path: { webhook_id: webhookId, delivery_id: deliveryId ?? '' } } },
    {
      enabled: deliveryId !== undefined,
      refetchInterval: ({ state }) => (state.data?.status === 'pending' ? pollMs : false),
    },
  )
}
