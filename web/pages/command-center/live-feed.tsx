import { Box, Button, Group, Paper, Text, Title } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { useNow } from '../../ui/use-now.ts'
import { LiveRows } from './live-rows.tsx'
import { type LiveEvent, newest, useLiveEvents } from './use-live-events.ts'
import type { SearchState } from './use-search-state.ts'

/** Shows events as they arrive. The list pauses while the pointer or the focus is in it. */
export function LiveFeed({ search, filters, isLive }: SearchState) {
  const events = useLiveEvents(filters, isLive)
  const [isPaused, setPaused] = useState(false)
  const [isRead, setRead] = useState(false)
  const [held, setHeld] = useState<LiveEvent[]>()
  const isHeld = isLive && (isPaused || isRead)
  const latest = events.data

  // The visible events stay when the user starts to read.
  if (isHeld && held === undefined && latest) setHeld(latest)
  if (!isHeld && held !== undefined) setHeld(undefined)

  const seen = new Set(held?.map(({ record_id }) => record_id))
  const fresh = held && latest ? latest.filter(({ record_id }) => !seen.has(record_id)).length : 0
  const count = fresh === newest ? `${newest}+` : String(fresh)

  return (
    <Paper withBorder p="md" component="section" aria-label="Live events">
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h3">
          Newest events
        </Title>
        {isLive && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={isPaused ? <IconPlayerPlay size={14} /> : <IconPlayerPause size={14} />}
            onClick={() => {
              setPaused(!isPaused)
              setRead(false)
            }}
          >
            {isPaused ? 'Continue' : 'Pause'}
          </Button>
        )}
      </Group>
      <Text size="xs" c="dimmed" mb="xs" h={18} data-live-state>
        {!isLive
          ? search.live === 'off'
            ? 'Live is off: these are those of when the page was opened.'
            : 'Live pauses while the demo data is loaded.'
          : isHeld
            ? `Paused${fresh > 0 ? `: ${count} new` : ''}`
            : 'In order of arrival, the latest first.'}
      </Text>
      <Announcement latest={latest} />
      <Box
        onMouseEnter={() => setRead(true)}
        onMouseLeave={() => setRead(false)}
        onFocus={() => setRead(true)}
        onBlur={(event) => {
          if (!event.currentTarget.contains(event.relatedTarget)) setRead(false)
        }}
      >
        <QueryBoundary query={events} what="events" skeleton={<SkeletonLines lines={8} height={36} />}>
          {(data) => <LiveRows events={held ?? data} />}
        </QueryBoundary>
      </Box>
    </Paper>
  )
}

/** Announces the number of new events to screen readers at intervals, not each event. */
function Announcement({ latest }: { latest: LiveEvent[] | undefined }) {
  const now = useNow()
  const [said, setSaid] = useState<{ id: string | undefined; text: string }>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: it speaks as the coarse clock turns, not with each event
  useEffect(() => {
    if (!latest) return
    setSaid((before) => {
      const at = latest.findIndex(({ record_id }) => record_id === before?.id)
      const came = before === undefined ? 0 : at < 0 ? latest.length : at
      const text = came === 0 ? '' : `${came === latest.length ? `${came} or more` : came} new events`
      return { id: latest[0]?.record_id, text }
    })
  }, [now])
  return (
    <span className="visually-hidden" role="status">
      {said?.text}
    </span>
  )
}
