import { Anchor, Button, Group, List, ScrollArea, Stack, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { notificationDays } from '../../contract/limits.ts'
import { type ApiResponse, hub } from '../api/api-client.ts'
import { useMe } from '../api/me.ts'
import { titleOfEvent } from '../components/event-titles.ts'
import { ProblemNotice } from '../components/problem-notice.tsx'
import { QueryBoundary, SkeletonLines } from '../components/query-boundary.tsx'
import { useAction } from '../components/use-action.ts'
import { describeEvent } from '../pages/governance/event-labels.ts'
import { addressOf, partsOf } from '../pages/governance/subject-address.ts'
import { TimeText } from '../ui/time-text.tsx'
import { mergedNotifications } from './merged-notifications.ts'
import { destinationAt, mayOpen } from './navigation.ts'

type Notifications = ApiResponse<'listNotifications'>
type Notification = Notifications['items'][number]

interface NotificationListProps {
  query: UseQueryResult<Notifications, unknown>
  /** Called when the user follows a link of the list. */
  onFollow(): void
}

/** Lists the recent notifications with their read state, and marks all as read. */
export default function NotificationList({ query, onFollow }: NotificationListProps) {
  const read = useAction({
    send: (record_id: string) => hub.POST('/api/v1/notifications:read', { body: { record_id } }),
    refresh: ['/api/v1/notifications'],
  })
  const newest = query.data?.items[0]
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Text fw={600} size="sm">
          Notifications
        </Text>
        {newest && !!query.data?.unread_count && (
          <Button
            size="compact-sm"
            variant="subtle"
            loading={read.isPending}
            onClick={() => read.mutate(newest.record_id)}
          >
            Mark all as read
          </Button>
        )}
      </Group>
      {read.error ? <ProblemNotice error={read.error} title="The notifications were not marked as read" /> : null}
      <QueryBoundary query={query} what="notifications" skeleton={<SkeletonLines lines={4} height={32} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Text size="sm" c="dimmed">
              {`No notifications in the last ${notificationDays} days.`}
            </Text>
          ) : (
            <ScrollArea.Autosize mah="min(28rem, 70dvh)" viewportProps={{ tabIndex: 0 }}>
              <List listStyleType="none" spacing="sm">
                {mergedNotifications(items).map((item) => (
                  <List.Item key={item.record_id}>
                    <Line item={item} onFollow={onFollow} />
                  </List.Item>
                ))}
              </List>
            </ScrollArea.Autosize>
          )
        }
      </QueryBoundary>
    </Stack>
  )
}

function Line({ item, onFollow }: { item: Notification; onFollow(): void }) {
  const address = useAddress(item)
  const said = describeEvent({ ...item, subject: item.subject, actor: '' })
  return (
    <>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <Anchor
          renderRoot={(props) => <Link to={address} {...props} />}
          size="sm"
          fw={item.read ? 400 : 700}
          onClick={onFollow}
        >
          {titleOfEvent(item.event_kind)}
        </Anchor>
        <Text size="xs" c="dimmed" flex="none">
          {!item.read && 'Unread · '}
          <TimeText iso={item.created_at} form="ago" />
        </Text>
      </Group>
      {said && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {said}
        </Text>
      )}
    </>
  )
}

/** Returns the page of the object of a notification, or of its event if the user may not open that page. */
function useAddress({ subject, record_id }: Notification): string {
  const me = useMe()
  const { kind, id } = partsOf(subject ?? '')
  const address = addressOf(kind, id)
  const page = address && destinationAt(address.split('?')[0] ?? '')
  return address && page && mayOpen(page, me) ? address : `/records/${record_id}`
}
