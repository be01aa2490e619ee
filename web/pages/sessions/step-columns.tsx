import { Group, Text } from '@mantine/core'
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import { CellLink } from '../../components/cell-link.tsx'
import { UsageLink } from '../../components/usage-link.tsx'
import { formatCount, formatMs, nothing } from '../../ui/formats.ts'
import { type ColumnFrom, columnsOf } from '../../ui/table-columns.ts'
import { UsdText } from '../../ui/usd-text.tsx'
import styles from './steps.module.css'
import type { TimedStep } from './timeline.ts'

const column = columnsOf<TimedStep>()
const plain = { enableSorting: false } as const
const right = (size: number, from?: ColumnFrom) => ({
  ...{ ...plain, size },
  meta: { align: 'right' as const, ...(from && { from }) },
})

/** Deeper steps are not indented further, so that their names stay readable. */
const indentMax = 8

export const stepColumns = column.columns([
  column.accessor('skill_id', {
    header: 'Step',
    size: 200,
    ...plain,
    meta: { grow: true },
    cell: ({ row: { original } }) => <StepCell step={original} />,
  }),
  column.accessor('startMs', {
    id: 'timeline',
    header: 'Timeline',
    size: 200,
    ...plain,
    meta: { from: 'sm' },
    cell: ({ row: { original } }) => <Bar step={original} />,
  }),
  column.accessor('latency_ms', {
    header: 'Latency',
    ...right(90),
    cell: ({ getValue }) => formatMs(getValue()),
  }),
  column.accessor((row) => row.success, {
    id: 'result',
    header: 'Result',
    size: 165,
    ...plain,
    meta: { from: 'sm' },
    cell: ({ row: { original } }) => <Result step={original} />,
  }),
  column.accessor('tokens_in', {
    header: 'Tokens in',
    ...right(95, 'lg'),
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.accessor('tokens_out', {
    header: 'Tokens out',
    ...right(110, 'lg'),
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.accessor('cost_usd_estimate', {
    header: 'Reported cost',
    ...right(125, 'lg'),
    cell: ({ getValue }) => <UsdText value={getValue()} />,
  }),
  column.accessor((row) => row.cost_usd_computed, {
    id: 'calculated',
    header: 'Calculated cost',
    ...right(145, 'xxl'),
    cell: ({ getValue }) => <UsdText value={getValue()} />,
  }),
  column.accessor((row) => row.llm_model ?? row.llm_platform, {
    id: 'model',
    header: 'Model',
    size: 160,
    ...plain,
    meta: { from: 'xl' },
    cell: ({ row: { original } }) =>
      original.llm_model ? <UsageLink group="model" id={original.llm_model} inRow /> : original.llm_platform,
  }),
  column.accessor('user_id', {
    header: 'User',
    size: 170,
    ...plain,
    meta: { from: 'xxl' },
    cell: ({ getValue }) => <UsageLink group="user" id={getValue()} inRow />,
  }),
  column.accessor((row) => row.trace_id, {
    id: 'trace',
    header: 'Trace',
    size: 110,
    ...plain,
    meta: { from: 'xxl' },
    cell: ({ getValue }) => {
      const traceId = getValue()
      return traceId ? (
        <CellLink href={`/traces/${traceId}`} title={traceId}>{`${traceId.slice(0, 8)}…`}</CellLink>
      ) : (
        nothing
      )
    },
  }),
])

/** Shows the step, and that it failed where a phone has no column for the result. */
function StepCell({ step }: { step: TimedStep }) {
  const { depth, skill_id, skill_version, success, error_code } = step
  return (
    <span className={styles.step} style={{ paddingInlineStart: `${Math.min(depth, indentMax)}rem` }}>
      {depth > 0 && (
        <span className={styles.branch} aria-hidden>
          └
        </span>
      )}
      <span className="visually-hidden">{`Level ${depth + 1}:`}</span>
      {!success && (
        <Text span inherit hiddenFrom="sm" flex="none" lh={0} c="red" title={error_code}>
          <IconCircleX size={16} aria-label={error_code ?? 'Failed'} />
        </Text>
      )}
      <Text span inherit truncate>
        <UsageLink group="skill" id={skill_id} inRow />
      </Text>
      <Text span size="xs" c="dimmed">
        {skill_version}
      </Text>
    </span>
  )
}

function Bar({ step: { startMs, latency_ms, left, width, success } }: { step: TimedStep }) {
  const text = `Starts after ${formatMs(startMs)}, takes ${formatMs(latency_ms)}`
  return (
    <span className={styles.axis} role="img" aria-label={text} title={text}>
      <span
        className={styles.bar}
        data-failed={!success || undefined}
        style={{ insetInlineStart: `${left * 100}%`, width: `${width * 100}%` }}
      />
    </span>
  )
}

function Result({ step: { success, error_code } }: { step: TimedStep }) {
  const Icon = success ? IconCircleCheck : IconCircleX
  return (
    <Group gap={4} wrap="nowrap" component="span" display="inline-flex" title={error_code}>
      <Icon
        size={16}
        aria-hidden
        color={`var(--mantine-color-${success ? 'gray' : 'red'}-text)`}
        style={{ flex: 'none' }}
      />
      <Text span inherit truncate>
        {success ? 'Success' : (error_code ?? 'Failed')}
      </Text>
    </Group>
  )
}
