import { Group, SegmentedControl, Skeleton, Table, Text, UnstyledButton } from '@mantine/core'
import type { CSSProperties } from 'react'
import { combineQueries } from '../../../components/combined-query.ts'
import { ProblemNotice } from '../../../components/problem-notice.tsx'
import { QueryBoundary, SkeletonLines } from '../../../components/query-boundary.tsx'
import {
  formatCount,
  formatMs,
  formatPercent,
  formatShort,
  formatUsdInColumn,
  formatUsdShort,
  nothing,
} from '../../../ui/formats.ts'
import type { MetricColumn } from '../../../ui/metric-columns.ts'
import { measures } from '../command-center-search.ts'
import { listPriceText, listPriceTitle } from '../list-price-text.ts'
import { NoEvents } from '../no-events.tsx'
import { failureRate } from '../trends.ts'
import type { Row } from '../use-metrics.ts'
import type { SearchState } from '../use-search-state.ts'
import { dimensionOf, type Group as GroupBy, shownKey } from './dimensions.ts'
import styles from './pivot-table.module.css'
import { useGridNavigation } from './use-grid-navigation.ts'
import { type PivotRow, pivotKeys, type usePivot } from './use-pivot.ts'

type Measure = (typeof measures)[number]

interface Shown {
  label: string
  value(row: Row): number
  /** The text that fits into a cell. */
  text(row: Row): string
  /** The full text. */
  full(row: Row): string
}

/** Shortens longer numbers, which would not fit. */
const shortCount = (value: number) => (value < 1e6 ? formatCount(value) : formatShort(value))
const shortUsd = (value: number) => (value < 1000 ? formatUsdInColumn(value) : formatUsdShort(value))
const rate = (row: Row) => failureRate(row) ?? 0

const shown: Record<Measure, Shown> = {
  invocations: {
    label: 'Invocations',
    value: (row) => row.invocations,
    text: (row) => shortCount(row.invocations),
    full: (row) => formatCount(row.invocations),
  },
  failure_rate: {
    label: 'Error rate',
    value: rate,
    text: (row) => formatPercent(rate(row)),
    full: (row) => `${formatCount(row.failures)} of ${formatCount(row.invocations)}`,
  },
  latency_p95: {
    label: 'p95',
    value: (row) => row.latency_ms.p95,
    text: (row) => formatMs(row.latency_ms.p95),
    full: (row) => `${formatCount(row.latency_ms.p95)} ms`,
  },
  cost_computed: {
    label: 'Calculated',
    value: (row) => row.cost_usd_computed,
    text: (row) => listPriceText(row, shortUsd),
    full: listPriceTitle,
  },
}

interface CrossTableProps extends Pick<SearchState, 'group' | 'search' | 'change'> {
  across: GroupBy
  cross: ReturnType<typeof usePivot>
  /** Filters the page; the table shown here then changes. */
  narrow: SearchState['change']
}

/** Shows two dimensions at once: the darker a cell, the higher its value. A cell drills down to both of its keys. */
export function PivotTable({ across, cross, group, search, change, narrow }: CrossTableProps) {
  const measure = search.measure ?? 'invocations'
  const { label, value, text, full } = shown[measure]
  const { rows, columns, columnKeys, crossRows, failed } = cross
  const [down, right] = [dimensionOf(group), dimensionOf(across)]
  const { cellProps, onKeyDown } = useGridNavigation(
    crossRows.map(({ cells }) => columnKeys.map((key) => cells?.has(key) ?? false)),
  )
  const values = crossRows
    .flatMap(({ cells }) => columnKeys.map((key) => cells?.get(key)))
    .filter((row) => row !== undefined)
  const highest = Math.max(0, ...values.map(value))

  return (
    <>
      <Group gap="xs" mb="xs">
        <SegmentedControl
          size="xs"
          aria-label="Measure"
          value={measure}
          onChange={(chosen) => change({ measure: chosen as Measure })}
          data={measures.map((each) => ({ value: each, label: shown[each].label }))}
        />
        <Text size="xs" c="dimmed">
          {`The ${pivotKeys} of each with the most invocations. Choose a cell to filter the page by both; arrow keys move between cells.`}
        </Text>
      </Group>
      {failed && (
        <ProblemNotice error={failed.error} title="Could not load some rows" onRetry={() => void failed.refetch()} />
      )}
      <QueryBoundary
        query={combineQueries(rows, columns)}
        what="metrics"
        skeleton={<SkeletonLines lines={8} height={36} />}
      >
        {() =>
          crossRows.length === 0 || columnKeys.length === 0 ? (
            <NoEvents />
          ) : (
            <Table.ScrollContainer
              minWidth={150 + 116 * columnKeys.length}
              scrollAreaProps={{
                viewportProps: {
                  tabIndex: 0,
                  role: 'group',
                  'aria-label': `${down.label} by ${right.label.toLowerCase()}`,
                },
              }}
            >
              <Table
                className={styles.table}
                // A table with few columns need not be as wide as the page.
                maw={200 + 240 * columnKeys.length}
                aria-label={`${label}: ${down.label.toLowerCase()} by ${right.label.toLowerCase()}`}
                onKeyDown={onKeyDown}
              >
                <colgroup>
                  <col className={styles.keys} />
                  <col span={columnKeys.length} />
                </colgroup>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th scope="col" className={styles.key}>
                      {down.label}
                    </Table.Th>
                    {columnKeys.map((key) => (
                      <Table.Th key={key} scope="col" className={styles.head} title={key}>
                        {shownKey(across, key)}
                      </Table.Th>
                    ))}
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {crossRows.map(({ key, cells }, at) => (
                    <Table.Tr key={key}>
                      <Table.Th scope="row" className={styles.key} title={key}>
                        {shownKey(group, key)}
                      </Table.Th>
                      {columnKeys.map((other, column) => {
                        const cell = cells?.get(other)
                        if (!cell) {
                          return (
                            <Table.Td key={other} className={styles.none}>
                              {cells ? nothing : <Skeleton height={16} />}
                            </Table.Td>
                          )
                        }
                        const share = highest === 0 ? 0 : value(cell) / highest
                        return (
                          <Table.Td key={other} className={styles.cell} style={{ '--share': share } as CSSProperties}>
                            <UnstyledButton
                              className={styles.button}
                              title={full(cell)}
                              aria-label={`${text(cell)}: ${shownKey(group, key)} and ${shownKey(across, other)}. Show only these.`}
                              onClick={() => narrow({ [down.field]: key, [right.field]: other, across: undefined })}
                              {...cellProps(at, column)}
                            >
                              {text(cell)}
                            </UnstyledButton>
                          </Table.Td>
                        )
                      })}
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </QueryBoundary>
    </>
  )
}

/** Returns the columns of the exported file, with exact values. */
export function pivotMetrics(
  group: GroupBy,
  columnKeys: readonly string[],
  measure: Measure = 'invocations',
): MetricColumn<PivotRow>[] {
  const { value } = shown[measure]
  return [
    { id: group, label: dimensionOf(group).label, value: ({ key }) => key },
    ...columnKeys.map((key) => ({
      ...{ id: key, label: key },
      value: ({ cells }: PivotRow) => {
        const cell = cells?.get(key)
        return cell && value(cell)
      },
    })),
  ]
}
