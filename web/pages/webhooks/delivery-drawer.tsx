import { Button, Group, Stack } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { useAction } from '../../components/use-action.ts'
import { SidePanel } from '../../ui/dialog.tsx'
import { DeliveryDetails } from './delivery-details.tsx'
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
  const redeliver = useAction({
    send: () =>
      hub.POST('/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}:redeliver', {
        params: { path: { webhook_id: webhookId, delivery_id: deliveryId } },
        body: {},
      }),
    done: 'It is queued, and sent in a moment.',
    refresh: ['/api/v1/webhooks'],
  })
  if (!me.may('redeliver')) return null
  return (
    <>
      <Group>
        <Button
          leftSection={<IconRefresh size={16} />}
          loading={redeliver.isPending}
          disabled={busy}
          onClick={() => redeliver.mutate()}
        >
          Redeliver
        </Button>
      </Group>
      {redeliver.error !== null && <ProblemNotice error={redeliver.error} title="It was not queued" />}
    </>
  )
}
