import { Progress, Text } from '@mantine/core'
import { UsageLink } from '../../../components/usage-link.tsx'
import {
  formatCount,
  formatMs,
  formatPercent,
  formatShort,
  formatUsdInColumn,
  formatUsdShort,
} from '../../../ui/formats.ts'
import { type MetricColumn, metricWidth } from '../../../ui/metric-columns.ts'
import { columnsOf } from '../../../ui/table-columns.ts'
import { UsdText } from '../../../ui/usd-text.tsx'
import { ChangeText } from '../change-text.tsx'
import { ListPrice } from '../list-price.tsx'
import { listPriceText } from '../list-price-text.ts'
import { failureRate } from '../trends.ts'
import type { Keys, Row } from '../use-metrics.ts'
import { dimensionOf, type Group, shownKey } from './dimensions.ts'

export interface BreakdownRow extends Row {
  group: Group
  /** The share of all invocations of the range. */
  share: number
  /** The same key in the previous period; undefined if it had no events, null while unknown. */
  before: Row | undefined | null
}

export function breakdownRows(group: Group, now: Keys, before: Keys | undefined): BreakdownRow[] {
  const earlier = new Map(before?.rows.map((row) => [row.key, row]))
  return now.rows.map((row) => ({
    ...row,
    group,
    share: now.totals.invocations === 0 ? 0 : row.invocations / now.totals.invocations,
    before: before ? earlier.get(row.key) : null,
  }))
}

const figures: Record<string, (row: Row) => number> = {
  invocations: (row) => row.invocations,
  failure_rate: (row) => failureRate(row) ?? 0,
  latency_p95: (row) => row.latency_ms.p95,
  cost_computed: (row) => row.cost_usd_computed,
  cost_estimate: (row) => row.cost_usd_estimate,
  tokens: (row) => row.tokens_in + row.tokens_out,
}

/** Sorts rows by a column; equal rows stay in the order of keys. */
export function order(rows: BreakdownRow[], by: string, descending: boolean): BreakdownRow[] {
  const figure = figures[by]
  const sign = descending ? -1 : 1
  if (!figure) return rows.toSorted((one, other) => sign * (one.key ?? '').localeCompare(other.key ?? ''))
  return rows.toSorted((one, other) => sign * (figure(one) - figure(other)))
}

const column = columnsOf<BreakdownRow>()
const right = { align: 'right' } as const

/** Returns the widths of columns with possibly long numbers, in pixels: a truncated number would be wrong. */
export function breakdownWidths(rows: readonly BreakdownRow[]) {
  const widest = (text: (row: BreakdownRow) => string, least: number) =>
    rows.reduce((width, row) => Math.max(width, metricWidth(text(row).length)), least)
  return {
    invocations: widest((row) => formatCount(row.invocations), 125),
    latency: widest((row) => formatMs(row.latency_ms.p95), 85),
    computed: widest((row) => listPriceText(row, formatUsdInColumn), 105),
    estimate: widest((row) => formatUsdInColumn(row.cost_usd_estimate), 105),
  }
}

/** Returns the columns of the table, by the ids that `sort` in the address uses. */
export function breakdownColumns(group: Group, widths: ReturnType<typeof breakdownWidths>) {
  return column.columns([
    column.accessor((row) => row.key ?? '', {
      id: 'key',
      header: dimensionOf(group).label,
      cell: ({ row: { original } }) => (
        <>
          <Text size="sm" fw={500} truncate lh={1.4} title={original.key}>
            {original.key === undefined || group === 'platform' ? (
              shownKey(group, original.key)
            ) : (
              <UsageLink group={group} id={original.key} />
            )}
          </Text>
          <Text size="xs" c="dimmed" truncate lh={1.4} hiddenFrom="sm">
            {`${formatPercent(failureRate(original))} failed · ${formatMs(original.latency_ms.p95)} · `}
            <ListPrice row={original} format={formatUsdShort} />
          </Text>
        </>
      ),
      size: 150,
      meta: { grow: true },
    }),
    column.accessor((row) => row.invocations, {
      id: 'invocations',
      header: 'Invocations',
      cell: ({ row: { original } }) => formatCount(original.invocations),
      size: widths.invocations,
      meta: right,
    }),
    column.display({
      id: 'change',
      header: 'Change',
      cell: ({ row: { original } }) =>
        original.before === null ? null : (
          <ChangeText
            now={original.invocations}
            before={original.before?.invocations ?? 0}
            format={formatCount}
            short
          />
        ),
      size: 110,
      meta: { from: 'lg' },
    }),
    column.display({
      id: 'share',
      header: 'Share',
      cell: ({ row: { original } }) => (
        <Progress
          value={Math.round(original.share * 1000) / 10}
          size="sm"
          aria-label={`${formatPercent(original.share)} of invocations`}
        />
      ),
      size: 70,
      meta: { from: 'lg' },
    }),
    column.accessor((row) => failureRate(row) ?? 0, {
      id: 'failure_rate',
      header: 'Error rate',
      cell: ({ row: { original } }) => formatPercent(failureRate(original)),
      size: 95,
      meta: { ...right, from: 'sm' },
    }),
    column.accessor((row) => row.latency_ms.p95, {
      id: 'latency_p95',
      header: 'p95',
      cell: ({ row: { original } }) => formatMs(original.latency_ms.p95),
      size: widths.latency,
      meta: { ...right, from: 'sm' },
    }),
    column.accessor((row) => row.cost_usd_computed, {
      id: 'cost_computed',
      header: 'Calculated',
      cell: ({ row: { original } }) => <ListPrice row={original} format={formatUsdInColumn} />,
      size: widths.computed,
      meta: { ...right, from: 'sm' },
    }),
    column.accessor((row) => row.cost_usd_estimate, {
      id: 'cost_estimate',
      header: 'Reported',
      cell: ({ row: { original } }) => <UsdText value={original.cost_usd_estimate} />,
      size: widths.estimate,
      meta: { ...right, from: 'lg' },
    }),
    column.accessor((row) => row.tokens_in + row.tokens_out, {
      id: 'tokens',
      header: 'Tokens',
      cell: ({ row: { original } }) => formatShort(original.tokens_in + original.tokens_out),
      size: 85,
      meta: { ...right, from: 'lg' },
    }),
  ])
}

/** Returns the columns of the exported file: exact values, and more of them than the table has space for. */
export function breakdownFigures(group: Group): MetricColumn<BreakdownRow>[] {
  return [
    { id: group, label: dimensionOf(group).label, value: (row) => row.key },
    { id: 'invocations', label: 'Invocations', value: (row) => row.invocations },
    {
      id: 'invocations_before',
      label: 'Previous period',
      value: (row) => (row.before === null ? undefined : (row.before?.invocations ?? 0)),
    },
    { id: 'failures', label: 'Failures', value: (row) => row.failures },
    { id: 'tokens_in', label: 'Tokens in', value: (row) => row.tokens_in },
    { id: 'tokens_out', label: 'Tokens out', value: (row) => row.tokens_out },
    { id: 'cost_usd_estimate', label: 'Reported cost', value: (row) => row.cost_usd_estimate },
    { id: 'cost_usd_computed', label: 'Calculated cost', value: (row) => row.cost_usd_computed },
    { id: 'unpriced', label: 'Unpriced', value: (row) => row.unpriced },
    { id: 'latency_p50_ms', label: 'p50', value: (row) => row.latency_ms.p50 },
    { id: 'latency_p95_ms', label: 'p95', value: (row) => row.latency_ms.p95 },
    { id: 'latency_p99_ms', label: 'p99', value: (row) => row.latency_ms.p99 },
  ]
}
