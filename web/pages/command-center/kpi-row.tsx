import { Group, Paper, SimpleGrid, Skeleton, Text } from '@mantine/core'
import { Help } from '../../components/help.tsx'
import {
  formatCount,
  formatMs,
  formatPercent,
  formatShort,
  formatUsd,
  formatUsdShort,
  nothing,
} from '../../ui/formats.ts'
import { ChangeText, type Earlier } from './change-text.tsx'
import styles from './kpi-row.module.css'
import { isUnpriced } from './list-price-text.ts'
import { fillGaps, type Interval, type Range } from './ranges.ts'
import { Sparkline, type SparklineProps } from './sparkline.tsx'
import { costDifferenceOf, failureRate } from './trends.ts'
import type { TimeRow, Totals } from './use-metrics.ts'

export interface People {
  count: number
  complete: boolean
}

interface KpiRowProps {
  now: Totals
  before: Totals | undefined
  rows: readonly TimeRow[]
  /** The rows of the previous period; empty if there are none to compare with. */
  rowsBefore: readonly TimeRow[]
  range: Range
  interval: Interval
  people: People | undefined
  peopleBefore: People | undefined
  /** The loading states of values that may be undefined here. */
  states: Record<'before' | 'people' | 'peopleBefore', Earlier>
}

/** Returns a short number for the available space; the tooltip has the whole number. */
const shownCount = (value: number) => (value < 1e9 ? formatCount(value) : formatShort(value))
const shownUsd = (value: number) => (Math.abs(value) < 1e6 ? formatUsd(value) : formatUsdShort(value))

/** Shows the metrics of the range, each beside that of the previous period. */
export function KpiRow(props: KpiRowProps) {
  const { now, before, rows, rowsBefore, range, interval, people, peopleBefore, states } = props
  const filled = fillGaps(rows, range, interval)
  const filledBefore = rowsBefore.length > 0 ? fillGaps(rowsBefore, range.before, interval) : []
  /** Returns a metric over time: counts and costs are zero without events, rates and percentiles are gaps. */
  const over = (figure: (totals: TimeRow) => number | undefined, none?: 0) => {
    const values = ({ row }: (typeof filled)[number]) => (row ? figure(row) : none)
    return { values: filled.map(values), before: filledBefore.map(values) }
  }
  // Without events there are no percentiles.
  const p95 = (totals: TimeRow) => (totals.invocations ? totals.latency_ms.p95 : undefined)
  const isFirst = before?.invocations === 0
  const pair = (figure: (totals: Totals) => number | undefined) => ({
    now: figure(now),
    // A previous period without events is not comparable.
    before: before && before.invocations > 0 ? figure(before) : undefined,
    earlier: isFirst ? ('none' as const) : states.before,
  })
  const failing = pair(failureRate)
  return (
    <SimpleGrid
      cols={{ base: 2, md: 4 }}
      spacing="sm"
      verticalSpacing="sm"
      mb="md"
      component="section"
      aria-label="Figures"
    >
      <Kpi
        label="Invocations"
        over={over((row) => row.invocations, 0)}
        value={shownCount(now.invocations)}
        full={formatCount(now.invocations)}
      >
        <ChangeText {...pair((totals) => totals.invocations)} format={shownCount} />
      </Kpi>
      <Kpi
        label="Error rate"
        over={over(failureRate)}
        help="Error rate"
        value={formatPercent(failing.now)}
        more={`${shownCount(now.failures)} failed`}
      >
        <ChangeText {...failing} format={formatPercent} better="down" by="points" />
      </Kpi>
      <Kpi
        label="p95 latency"
        over={over(p95)}
        help="p95 latency"
        value={formatMs(p95(now))}
        more={now.invocations ? `p50 ${formatMs(now.latency_ms.p50)}` : 'no invocations'}
      >
        <ChangeText {...pair(p95)} format={formatMs} better="down" />
      </Kpi>
      <Kpi
        label="Active users"
        help="Active users"
        value={peopleText(people, states.people)}
        more={
          people?.complete && people.count > 0
            ? `${shownCount(Math.round(now.invocations / people.count))} per user, on average`
            : 'with an invocation'
        }
      >
        <ChangeText
          now={people?.count}
          before={peopleBefore?.count}
          earlier={isFirst ? 'none' : states.people === 'known' ? states.peopleBefore : 'reading'}
          format={formatCount}
        />
      </Kpi>
      <Kpi
        label="Reported cost"
        over={over((row) => row.cost_usd_estimate, 0)}
        help="Reported cost"
        value={shownUsd(now.cost_usd_estimate)}
        full={formatUsd(now.cost_usd_estimate)}
        more="as reported by senders"
      >
        <ChangeText {...pair((totals) => totals.cost_usd_estimate)} format={shownUsd} />
      </Kpi>
      <Kpi
        label="Calculated cost"
        over={over((row) => row.cost_usd_computed, 0)}
        help="Calculated cost"
        value={isUnpriced(now) ? 'No price' : shownUsd(now.cost_usd_computed)}
        full={formatUsd(now.cost_usd_computed)}
        more={
          now.unpriced
            ? `${shownCount(now.unpriced)} without a price`
            : now.invocations
              ? 'all priced'
              : 'no invocations'
        }
      >
        <ChangeText {...pair((totals) => totals.cost_usd_computed)} format={shownUsd} />
      </Kpi>
      <Kpi
        label="Difference"
        over={over(costDifferenceOf, 0)}
        help="Difference"
        value={shownUsd(costDifferenceOf(now))}
        full={formatUsd(costDifferenceOf(now))}
        more={
          now.cost_usd_computed
            ? `${formatPercent(costDifferenceOf(now) / now.cost_usd_computed)} of calculated`
            : 'reported − calculated'
        }
      >
        <ChangeText {...pair(costDifferenceOf)} format={shownUsd} by="amount" />
      </Kpi>
      <Kpi
        label="Tokens"
        over={over((row) => row.tokens_in + row.tokens_out, 0)}
        value={formatShort(now.tokens_in + now.tokens_out)}
        full={formatCount(now.tokens_in + now.tokens_out)}
        more={`${formatShort(now.tokens_in)} in, ${formatShort(now.tokens_out)} out`}
      >
        <ChangeText {...pair((totals) => totals.tokens_in + totals.tokens_out)} format={formatShort} />
      </Kpi>
    </SimpleGrid>
  )
}

/** Returns undefined while users are counted. */
function peopleText(people: People | undefined, state: Earlier): string | undefined {
  if (people) return `${formatCount(people.count)}${people.complete ? '' : '+'}`
  return state === 'failed' ? nothing : undefined
}

interface KpiProps {
  label: string
  /** The term of the glossary that explains the metric. */
  help?: string
  /** Undefined while loading. */
  value: string | undefined
  /** The value with all its digits. */
  full?: string
  more?: string
  /** The metric over time. */
  over?: SparklineProps
  children: React.ReactNode
}

function Kpi({ label, help, value, full, more, over, children }: KpiProps) {
  return (
    <Paper withBorder p="sm" component="article" aria-label={label} className={styles.kpi}>
      <Group gap={4} wrap="nowrap">
        <Text size="sm" c="dimmed" component="h2" fw={500} truncate>
          {label}
        </Text>
        {help && <Help term={help} />}
      </Group>
      {value === undefined ? (
        <Skeleton height={32} width="60%" />
      ) : (
        <div className={styles.row}>
          <Text className={styles.value} data-value title={full === value ? undefined : full}>
            {value}
          </Text>
          {over && <Sparkline {...over} />}
        </div>
      )}
      <Text size="xs" c="dimmed" truncate>
        {more ?? '\u00a0'}
      </Text>
      <div className={styles.change}>{children}</div>
    </Paper>
  )
}

/** Shows a placeholder of the size of the metrics. */
export function KpiSkeleton() {
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm" mb="md" aria-hidden>
      {Array.from({ length: 8 }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike and never move
        <Skeleton key={index} className={styles.kpi} radius="md" />
      ))}
    </SimpleGrid>
  )
}
