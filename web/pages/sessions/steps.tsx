import { Group, Paper, Stack, Text } from '@mantine/core'
import { IconTimeline } from '@tabler/icons-react'
import { lazy, Suspense, useMemo, useState } from 'react'
import type { HubRecord } from '../../api/hub-record.ts'
import { moreOf } from '../../components/cursor-pagination.ts'
import { type LoadableQuery, QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatCount, formatMs, formatUsd, nothing } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { formatTime } from '../../ui/time-text.tsx'
import { stepColumns } from './step-columns.tsx'
import { type Timeline, timelineOf } from './timeline.ts'

// The details verify the record: that is more than the page itself.
const RecordDrawer = lazy(() =>
  import('../records/record-drawer.tsx').then((module) => ({ default: module.RecordDrawer })),
)

interface StepsProps {
  query: LoadableQuery<{ pages: Parameters<typeof timelineOf>[0] }> & Parameters<typeof moreOf>[0]
  /** The subject in a sentence: "session". */
  what: string
}

/** Shows the steps of a session or trace as a tree with their times, tokens and costs. A step opens beside the tree. */
export function Steps({ query, what }: StepsProps) {
  const pages = query.data?.pages
  const timeline = useMemo(() => timelineOf(pages ?? []), [pages])
  const records = useMemo(
    () => timeline.steps.map((step) => ({ ...step, record_type: 'telemetry_event' }) as unknown as HubRecord),
    [timeline],
  )
  const [openId, setOpenId] = useState<string>()
  const [wasOpened, setWasOpened] = useState(false)
  const open = (recordId: string | undefined) => {
    setOpenId(recordId)
    setWasOpened(true)
  }
  return (
    <QueryBoundary query={query} what={`steps of the ${what}`} skeleton={<SkeletonLines lines={10} />}>
      {() =>
        timeline.steps.length === 0 ? (
          <EmptyState title={`No steps of this ${what} can be shown`} icon={IconTimeline}>
            {timeline.unreadable > 0 ? describeUnreadable(timeline.unreadable) : 'Its events were purged or erased.'}
          </EmptyState>
        ) : (
          <Stack gap="md">
            <Sums timeline={timeline} isComplete={!query.hasNextPage} />
            {timeline.unreadable > 0 && (
              <Notice kind="warning" title="Not all events can be shown">
                {describeUnreadable(timeline.unreadable)}
              </Notice>
            )}
            <DataTable
              label="Steps"
              rows={timeline.steps}
              columns={stepColumns}
              rowId={({ record_id }) => record_id}
              onOpen={({ record_id }) => open(record_id)}
              openId={openId}
              more={moreOf(query)}
            />
            {wasOpened && (
              <Suspense fallback={null}>
                <RecordDrawer openId={openId} rows={records} onOpen={open} />
              </Suspense>
            )}
          </Stack>
        )
      }
    </QueryBoundary>
  )
}

const describeUnreadable = (count: number) =>
  count === 1
    ? '1 event cannot be read. It was altered, or its key was destroyed.'
    : `${formatCount(count)} events cannot be read. They were altered, or their key was destroyed.`

function Sums({ timeline: { totals, durationMs }, isComplete }: { timeline: Timeline; isComplete: boolean }) {
  if (!totals) return null
  const figures = [
    ['Started', formatTime(totals.started_at)],
    ['Duration', formatMs(durationMs)],
    ['Steps', `${formatCount(totals.events)}${isComplete ? '' : '+'}`],
    ['Failed', formatCount(totals.failures)],
    ['Tokens in', formatCount(totals.tokens_in)],
    ['Tokens out', formatCount(totals.tokens_out)],
    ['Reported cost', formatUsd(totals.cost_usd_estimate)],
    ['Calculated cost', totals.unpriced === totals.events ? nothing : formatUsd(totals.cost_usd_computed)],
  ] as const
  return (
    <Paper withBorder p="md" component="section" aria-label="Totals">
      <Group component="dl" gap="xl" m={0}>
        {figures.map(([name, value]) => (
          <div key={name}>
            <Text component="dt" size="xs" c="dimmed">
              {name}
            </Text>
            <Text component="dd" fw={600} m={0}>
              {value}
            </Text>
          </div>
        ))}
      </Group>
      {totals.unpriced > 0 && totals.unpriced < totals.events && (
        <Text size="xs" c="dimmed" mt="xs">
          {`The calculated cost leaves out ${formatCount(totals.unpriced)} steps without a price.`}
        </Text>
      )}
    </Paper>
  )
}
