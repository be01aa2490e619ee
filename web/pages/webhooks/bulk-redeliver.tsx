import { Anchor, Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { pageSizeMax, webhookRedeliveriesMax } from '../../../contract/limits.ts'
import { hub } from '../../api/api-client.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { DateTimeInput } from '../../ui/date-time-input.tsx'
import { formatCount } from '../../ui/formats.ts'

const choices = [
  { value: 'missed', label: 'Retrying or failed permanently' },
  { value: 'dead', label: 'Failed permanently' },
  { value: 'failed', label: 'What failed and is tried again anyway' },
  { value: 'delivered', label: 'What was taken, too: those alone' },
] as const
type Choice = (typeof choices)[number]['value']

interface BulkRedeliverProps {
  onClose(): void
  webhookId: string
  from: string | undefined
  until: string | undefined
}

/** Sends messages again that a receiver missed during an outage. */
export function BulkRedeliver({ onClose, webhookId, from, until }: BulkRedeliverProps) {
  const [choice, setChoice] = useState<Choice>('missed')
  const [since, setSince] = useState(from ?? new Date(Date.now() - 86_400_000).toISOString())
  const [to, setTo] = useState(until)
  const statuses = choice === 'missed' ? (['failed', 'dead'] as const) : ([choice] as const)

  const count = useQuery({
    queryKey: ['redeliveries', webhookId, since, to, choice],
    queryFn: async ({ signal }) => {
      const query = { limit: pageSizeMax, created_at__gte: since, ...(to && { created_at__lt: to }) }
      const pages = await Promise.all(
        statuses.map((status) =>
          hub.GET('/api/v1/webhooks/{webhook_id}/deliveries', {
            params: { path: { webhook_id: webhookId }, query: { ...query, status } },
            signal,
          }),
        ),
      )
      return {
        known: pages.reduce((sum, { data }) => sum + (data?.items.length ?? 0), 0),
        isAll: pages.every(({ data }) => !data?.next_cursor),
      }
    },
  })

  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title="Redeliver several"
      confirmLabel="Redeliver"
      failed="Nothing was queued"
      send={() =>
        hub.POST('/api/v1/webhooks/{webhook_id}:redeliver', {
          params: { path: { webhook_id: webhookId } },
          body: { since, ...(to && { until: to }), ...(choice !== 'missed' && { status: choice }) },
        })
      }
      done={({ queued }) => `${formatCount(queued)} deliveries are queued again.`}
      refresh={['/api/v1/webhooks']}
    >
      <Stack>
        <DateTimeInput
          label="Queued since"
          clearable={false}
          value={since}
          onChange={(iso) => setSince(iso ?? since)}
        />
        <DateTimeInput label="Until" placeholder="Now" value={to} onChange={setTo} />
        <Select
          label="Which"
          data={choices}
          allowDeselect={false}
          value={choice}
          onChange={(value) => setChoice((value as Choice | null) ?? 'missed')}
        />
        <Text size="sm" role="status">
          {count.data
            ? `${count.data.isAll ? '' : 'More than '}${formatCount(count.data.known)} messages will be sent again, each with its former number and id. The receiver may know some of them.`
            : count.error
              ? 'How many will be sent again is not known: counting them did not work. '
              : 'Counting what will be sent …'}
          {!count.data && count.error && (
            <Anchor component="button" type="button" size="sm" onClick={() => void count.refetch()}>
              Count again
            </Anchor>
          )}
        </Text>
        <Text size="sm" c="dimmed">
          {`At most ${formatCount(webhookRedeliveriesMax)} at a time: of a range with more nothing is queued. What was queued cannot be called back, but disabling the endpoint stops it.`}
        </Text>
      </Stack>
    </ConfirmDialog>
  )
}
