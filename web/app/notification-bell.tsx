import { ActionIcon, Indicator, Popover } from '@mantine/core'
import { IconBell } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { api } from '../api/api-client.ts'
import { pollEvery } from '../components/polling.ts'
import { SkeletonLines } from '../components/query-boundary.tsx'
import { formatCount } from '../ui/formats.ts'
import { unreadCount } from './merged-notifications.ts'

const NotificationList = lazy(() => import('./notification-list.tsx'))

const everyMs = 60_000

/** Shows the number of unread notifications, and opens their list, whose script loads on first use. */
export default function NotificationBell() {
  const [opened, setOpened] = useState(false)
  const query = api.useQuery(
    'get',
    '/api/v1/notifications',
    {},
    { ...pollEvery(everyMs, true), staleTime: everyMs / 2 },
  )
  const unread = query.data ? unreadCount(query.data) : 0
  const toggle = () => {
    setOpened(!opened)
    if (!opened) void query.refetch()
  }
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      width="min(24rem, calc(100vw - 2rem))"
      position="bottom-end"
      shadow="md"
      trapFocus
      returnFocus
    >
      <Indicator label={formatCount(unread)} size={16} offset={5} color="red.9" disabled={unread === 0}>
        <Popover.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={unread === 0 ? 'Notifications' : `Notifications, ${formatCount(unread)} unread`}
            onClick={toggle}
          >
            <IconBell size={18} />
          </ActionIcon>
        </Popover.Target>
      </Indicator>
      <Popover.Dropdown aria-label="Notifications" p="sm">
        <Suspense fallback={<SkeletonLines lines={4} height={32} />}>
          <NotificationList query={query} onFollow={() => setOpened(false)} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}
