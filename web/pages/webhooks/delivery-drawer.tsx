import { Button, Group, Stack } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { SidePanel } from '../../ui/dialog.tsx'
import { DeliveryDetails } from './delivery-details.tsx'
import { refreshWebhooks } from './refresh-webhooks.ts'
import { useDelivery } from './use-delivery.ts'

interface DeliveryDrawerProps {
  webhookId: string
  /** Undefined while no delivery is open. */
  deliveryId: string | undefined
  onClose(): void
}

/** Shows one delivery in full, beside the list. */
export function DeliveryDrawer({ webhookId, deliveryId, onClose }: DeliveryDrawerProps) {
  const delivery = useDelivery(webhookId, deliveryId)
  return (
    <SidePanel
      opened={deliveryId !== undefined}
      onClose={onClose}
      size="xl"
      kind="Delivery"
      title={delivery.data?.kind}
    >
      {deliveryId && (
        <QueryBoundary query={delivery} what="delivery">
          {(data) => (
            <Stack>
              <Redeliver webhookId={webhookId} deliveryId={deliveryId} busy={data.status === 'pending'} />
              <DeliveryDetails key={data.attempt_count} delivery={data} />
            </Stack>
          )}
        </QueryBoundary>
      )}
    </SidePanel>
  )
}

function Redeliver({ webhookId, deliveryId, busy }: { webhookId: string; deliveryId: string; busy: boolean }) {
  const me = useMe()
  const redeliver = api.useMutation('post', '/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}:redeliver', {
    onSuccess: () => {
      notifyDone('It is queued, and sent in a moment.')
      return refreshWebhooks()
    },
  })
  const failure: unknown = redeliver.error
  if (!me.may('redeliver')) return null
  return (
    <>
      <Group>
        <Button
          leftSection={<IconRefresh size={16} />}
          loading={redeliver.isPending}
          disabled={busy}
          onClick={() =>
            redeliver.mutate({ params: { path: { webhook_id: webhookId, delivery_id: deliveryId } }, body: {} })
          }
        >
          Redeliver
        </Button>
      </Group>
      {failure !== null && <ProblemNotice error={failure} title="It was not queued" />}
    </>
  )
}
