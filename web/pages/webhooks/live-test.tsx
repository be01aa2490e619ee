import { Button, Group, Loader, Stack, Text } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useState } from 'react'
import { hub } from '../../api/api-client.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { useAction } from '../../components/use-action.ts'
import { Notice } from '../../ui/notice.tsx'
import { DeliveryDetails } from './delivery-details.tsx'
import { useDelivery } from './use-delivery.ts'

/** Sends a test message and shows the request and the response as they arrive. */
export function TestRun({ webhookId, onTaken }: { webhookId: string; onTaken?(): void }) {
  const [deliveryId, setDeliveryId] = useState<string>()
  const send = useAction({
    send: () =>
      hub.POST('/api/v1/webhooks/{webhook_id}:test', { params: { path: { webhook_id: webhookId } }, body: {} }),
    onDone: ({ delivery_id }) => setDeliveryId(delivery_id),
  })
  const delivery = useDelivery(webhookId, deliveryId)
  const failure: unknown = send.error ?? delivery.error
  const status = delivery.data?.status
  const settled = status !== undefined && status !== 'pending'
  return (
    <Stack>
      <Text size="sm">
        One message of the kind webhook.test is sent, signed like any other, also while the endpoint is disabled. It is
        attempted once.
      </Text>
      <Group>
        <Button
          leftSection={<IconSend size={16} />}
          loading={send.isPending || (deliveryId !== undefined && !settled && !failure)}
          onClick={() => send.mutate()}
        >
          {settled ? 'Send another' : 'Send test message'}
        </Button>
        {onTaken && status === 'delivered' && <Button onClick={onTaken}>Go on</Button>}
      </Group>
      {failure !== null && failure !== undefined && (
        <ProblemNotice error={failure} title="The test could not be made" />
      )}
      <div aria-live="polite">
        {deliveryId !== undefined && !settled && !failure && (
          <Group gap="xs">
            <Loader size="xs" aria-hidden />
            <Text size="sm">It is on its way …</Text>
          </Group>
        )}
        {status === 'delivered' && <Notice kind="good" title="The receiver took it" />}
        {settled && status !== 'delivered' && <Notice kind="danger" title="The receiver did not take it" />}
      </div>
      {delivery.data && settled && <DeliveryDetails key={delivery.data.delivery_id} delivery={delivery.data} />}
    </Stack>
  )
}
