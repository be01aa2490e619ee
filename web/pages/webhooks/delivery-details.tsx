import { Code, Group, Stack, Text, Title } from '@mantine/core'
import type { ApiResponse } from '../../api/api-client.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { Attempts } from './attempt-details.tsx'
import { DeliveryStatusBadge } from './delivery-status.tsx'

/** Shows a delivery with its message and its attempts. */
export function DeliveryDetails({ delivery }: { delivery: ApiResponse<'getDelivery'> }) {
  const { status, attempts, attempt_count, created_at, delivered_at, next_attempt_at, sequence, message_id } = delivery
  return (
    <Stack gap="md">
      <Group gap="xs" role="status">
        <DeliveryStatusBadge status={status} />
        <Text size="sm">
          {delivered_at ? (
            <>
              taken <TimeText iso={delivered_at} form="ago" />
            </>
          ) : next_attempt_at ? (
            <>
              {attempt_count > 0 ? 'tried again ' : 'sent '}
              <TimeText iso={next_attempt_at} form="ago" />
            </>
          ) : (
            status === 'dead' && 'It is not sent again unless you redeliver it.'
          )}
        </Text>
      </Group>
      <Stack gap={4}>
        <Text size="sm">
          {`Message no. ${sequence}, queued `}
          <TimeText iso={created_at} />
        </Text>
        <CopyText value={message_id} label="Copy message id" />
      </Stack>
      <div>
        <Title order={3} mb={6}>
          Attempts
        </Title>
        {attempts.length > 0 ? (
          <Attempts attempts={attempts} count={attempt_count} />
        ) : (
          <Text size="sm" c="dimmed">
            {status === 'dead' ? 'None was made.' : 'None yet: it is about to be sent.'}
          </Text>
        )}
      </div>
      <div>
        <Title order={3} mb={6}>
          Body
        </Title>
        <Code
          block
          tabIndex={0}
          role="region"
          aria-label="Body of the message"
          mah="28rem"
          style={{ overflow: 'auto' }}
        >
          {JSON.stringify(delivery.body, null, 2)}
        </Code>
      </div>
    </Stack>
  )
}
