import { Badge, Box, Group, Text } from '@mantine/core'
import { IconCircleCheck, IconCircleX, IconShieldCheck, IconShieldOff, IconShieldX } from '@tabler/icons-react'
import { createContext, lazy, type ReactNode, Suspense, useContext } from 'react'
import type { HubRecord } from '../../api/hub-record.ts'
import { ActorName } from '../../components/actor-name.tsx'
import { causeOf } from '../../components/record-actor.ts'
import { looksOf, RecordTypeBadge, titleOfRecord } from '../../components/record-type.tsx'
import type { UsageGroup } from '../../components/usage-address.ts'
import { UsageLink } from '../../components/usage-link.tsx'
import { formatCount, formatMs, nothing } from '../../ui/formats.ts'
import { type ColumnFrom, columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { UsdText } from '../../ui/usd-text.tsx'
import type { RowVerdicts } from '../../verification/verify-rows.ts'

const EventText = lazy(() => import('./event-text.tsx'))

/** The verdicts of this browser on verified rows. */
export const RowVerdictsContext = createContext<RowVerdicts>(new Map())

const column = columnsOf<HubRecord>()
const text = (record: HubRecord, member: string) => {
  const value = record[member]
  return typeof value === 'string' ? value : undefined
}
const number = (record: HubRecord, member: string) => {
  const value = record[member]
  return typeof value === 'number' ? value : undefined
}
const textColumn = (member: string, header: string, size = 160) =>
  column.accessor((record) => text(record, member), {
    id: member,
    header,
    size,
    enableSorting: false,
    cell: ({ getValue }) => getValue() ?? nothing,
  })
const usageColumn = (member: string, header: string, group: UsageGroup, size = 160) =>
  column.accessor((record) => text(record, member), {
    id: member,
    header,
    size,
    enableSorting: false,
    cell: ({ getValue }) => <UsageLink group={group} id={getValue()} inRow />,
  })
const numberColumn = (
  member: string,
  header: string,
  format: (value: number | undefined) => ReactNode,
  size = 110,
  from?: ColumnFrom,
) =>
  column.accessor((record) => number(record, member), {
    id: member,
    header,
    size,
    enableSorting: false,
    meta: { align: 'right', ...(from && { from }) },
    cell: ({ getValue }) => format(getValue()),
  })

/** All columns in their order. The headers of `created_at` and `cost_usd_estimate` sort, as the Hub supports. */
export const recordColumns = column.columns([
  column.accessor('record_type', {
    header: 'Type',
    size: 140,
    enableSorting: false,
    meta: { from: 'sm' },
    cell: ({ getValue }) => <RecordTypeBadge type={getValue()} isShort />,
  }),
  column.accessor((record) => titleOfRecord(record), {
    id: 'title',
    header: 'Title',
    // The minimum width; the column that distinguishes rows gets the most space.
    size: 200,
    enableSorting: false,
    meta: { grow: true },
    cell: ({ row, getValue }) => <TitleCell record={row.original} title={getValue()} />,
  }),
  column.display({
    id: 'verdict',
    header: 'In this browser',
    size: 135,
    meta: { name: 'In this browser' },
    cell: ({ row }) => <VerdictCell record={row.original} />,
  }),
  column.accessor((record) => record.verification?.verified, {
    id: 'server',
    header: 'The Hub says',
    size: 130,
    enableSorting: false,
    cell: ({ getValue }) => <ServerCell verified={getValue()} />,
  }),
  column.accessor((record) => text(record, 'skill_id'), {
    id: 'skill_id',
    header: 'Skill',
    size: 180,
    enableSorting: false,
    // On narrower screens the title contains it.
    meta: { from: 'xxl' },
    cell: ({ getValue }) => <UsageLink group="skill" id={getValue()} inRow />,
  }),
  column.accessor((record) => record.success, {
    id: 'success',
    header: 'Result',
    size: 95,
    enableSorting: false,
    meta: { from: 'md' },
    cell: ({ getValue }) => <OutcomeCell success={getValue()} />,
  }),
  numberColumn('latency_ms', 'Latency', formatMs, 90, 'lg'),
  column.accessor((record) => text(record, 'user_id') ?? causeOf(record), {
    id: 'who',
    header: 'Who',
    size: 205,
    enableSorting: false,
    meta: { from: 'lg' },
    cell: ({ row, getValue }) => {
      const user = text(row.original, 'user_id')
      return user ? <UsageLink group="user" id={user} inRow /> : <ActorName id={getValue()} short />
    },
  }),
  column.accessor((record) => number(record, 'cost_usd_estimate'), {
    id: 'cost_usd_estimate',
    header: 'Reported cost',
    size: 135,
    meta: { align: 'right', from: 'sm' },
    cell: ({ getValue }) => <UsdText value={getValue()} />,
  }),
  column.accessor('created_at', {
    header: 'Created',
    size: 180,
    meta: { from: 'sm' },
    cell: ({ getValue }) => <TimeText iso={getValue()} />,
  }),
  textColumn('record_id', 'Record id', 300),
  usageColumn('archetype_id', 'Archetype', 'archetype'),
  column.accessor((record) => causeOf(record), {
    id: 'created_by',
    header: 'Created by',
    size: 180,
    enableSorting: false,
    cell: ({ getValue }) => <ActorName id={getValue()} short />,
  }),
  textColumn('llm_platform', 'Platform', 110),
  usageColumn('llm_model', 'Model', 'model', 180),
  textColumn('skill_version', 'Version', 100),
  numberColumn('tokens_in', 'Tokens in', formatCount),
  numberColumn('tokens_out', 'Tokens out', formatCount),
  numberColumn('cost_usd_computed', 'Calculated cost', (value) => <UsdText value={value} />, 140),
  textColumn('subject', 'Subject', 220),
  textColumn('provenance_hash', 'Hash', 260),
])

/** Columns that appear only while they have content; the user cannot select them. */
export const columnsOfVerification = ['verdict', 'server'] as const

/** The default columns: of all records, and of telemetry events alone, which differ by their results. */
export const usualColumns = {
  records: ['record_type', 'title', 'skill_id', 'who', 'cost_usd_estimate', 'created_at'],
  events: ['success', 'title', 'who', 'latency_ms', 'cost_usd_estimate', 'created_at'],
} as const

function TitleCell({ record, title }: { record: HubRecord; title: string }) {
  const { label, Icon } = looksOf(record.record_type)
  const told = besideTitle(record)
  return (
    <Group gap={6} wrap="nowrap" miw={0}>
      <Text span inherit hiddenFrom="sm" c="dimmed" flex="none" lh={0}>
        <Icon size={16} aria-label={label} />
      </Text>
      <Box miw={0}>
        <Text size="sm" truncate>
          {title}
          {record.record_type === 'governance_event' && (
            <Text span inherit c="dimmed">
              <Suspense fallback={null}>
                <EventText record={record} />
              </Suspense>
            </Text>
          )}
          {told.length > 0 && (
            <Text span inherit c="dimmed" {...(record.record_type === 'output' && { hiddenFrom: 'xxl' })}>
              {` · ${told.join(' · ')}`}
            </Text>
          )}
        </Text>
        <Text size="xs" c="dimmed" truncate hiddenFrom="sm">
          <TimeText iso={record.created_at} />
        </Text>
      </Box>
      {record.is_purged && (
        <Badge size="sm" variant="outline" color="orange" flex="none">
          Purged
        </Badge>
      )}
    </Group>
  )
}

/**
 * Returns text beside the title. Events of one skill share a title, so their result distinguishes them; for an output
 * it is the skill that produced it.
 */
function besideTitle(record: HubRecord): string[] {
  if (record.record_type === 'output') return [text(record, 'skill_id')].filter((part) => part !== undefined)
  if (record.record_type !== 'telemetry_event') return []
  const latency = number(record, 'latency_ms')
  const parts = [
    record.success === false && 'failed',
    latency !== undefined && formatMs(latency),
    text(record, 'llm_platform'),
  ]
  return parts.filter((part) => typeof part === 'string')
}

function VerdictCell({ record }: { record: HubRecord }) {
  const verdict = useContext(RowVerdictsContext).get(record)
  if (!verdict)
    return (
      <Text span inherit c="dimmed">
        {nothing}
      </Text>
    )
  return verdict.verified ? (
    <Mark color="seal" Icon={IconShieldCheck} word="Genuine" />
  ) : (
    <span title={verdict.because}>
      {verdict.isGone ? (
        <Mark color="gray" Icon={IconShieldOff} word="Content gone" />
      ) : (
        <Mark color="red" Icon={IconShieldX} word="Tampered" />
      )}
    </span>
  )
}

function ServerCell({ verified }: { verified: boolean | undefined }) {
  if (verified === undefined) return nothing
  return verified ? (
    <Mark color="gray" Icon={IconCircleCheck} word="Verified" />
  ) : (
    <Mark color="red" Icon={IconCircleX} word="Not verified" />
  )
}

function OutcomeCell({ success }: { success: unknown }) {
  if (typeof success !== 'boolean') return nothing
  return success ? (
    <Mark color="gray" Icon={IconCircleCheck} word="Success" />
  ) : (
    <Mark color="red" Icon={IconCircleX} word="Failed" />
  )
}

function Mark({ color, Icon, word }: { color: string; Icon: typeof IconCircleX; word: string }) {
  return (
    <Group gap={4} wrap="nowrap" component="span" display="inline-flex">
      <Icon size={16} aria-hidden color={`var(--mantine-color-${color}-text)`} />
      {word}
    </Group>
  )
}
