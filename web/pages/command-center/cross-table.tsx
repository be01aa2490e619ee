import { Group, SegmentedControl, Skeleton, Table, Text, UnstyledButton } from '@mantine/core'
import type { CSSProperties } from 'react'
import { Loaded, SkeletonLines } from '../../components/loaded.tsx'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { together } from '../../components/together.ts'
import { ExportMenu } from '../../ui/export-menu.tsx'
import type { FigureColumn } from '../../ui/figures.ts'
import { formatCount, formatMs, formatPercent, formatUsd, nothing } from '../../ui/formats.ts'
import { saveCsv } from '../../ui/save-csv.ts'
import { failureRate } from './changes.ts'
import { measures } from './command-center-search.ts'
import styles from './cross-table.module.css'
import { dimensionOf, type Group as GroupBy, shownKey } from './dimensions.ts'
import type { Center } from './use-center.ts'
import { type CrossRow, crossKeys, useCross } from './use-cross.ts'
import type { Row } from './use-figures.ts'

type Measure = (typeof measures)[number]

const shown: Record<Measure, { label: string; value(row: Row): number; text(value: number): string }> = {
  invocations: { label: 'Invocations', value: (row) => row.invocations, text: formatCount },
  failure_rate: { label: 'Failed', value: (row) => failureRate(row) ?? 0, text: formatPercent },
  latency_p95: { label: 'p95', value: (row) => row.latency_ms.p95, text: formatMs },
  cost_computed: { label: 'List price', value: (row) => row.cost_usd_computed, text: formatUsd },
}

interface CrossTableProps extends Center {
  across: GroupBy
}

/** Two dimensions at once: the darker a cell, the higher its figure. A cell drills down to both of its keys. */
export function CrossTable({ across, group, range, filters, search, change }: CrossTableProps) {
  const measure = search.measure ?? 'invocations'
  const { label, value, text } = shown[measure]
  const { rows, columns, columnKeys, crossRows, failed } = useCross(group, across, range, filters)
  const [down, right] = [dimensionOf(group), dimensionOf(across)]
  const values = crossRows
    .flatMap(({ cells }) => columnKeys.map((key) => cells?.get(key)))
    .filter((row) => row !== undefined)
  const highest = Math.max(0, ...values.map(value))

  const figures: FigureColumn<CrossRow>[] = [
    { id: group, label: down.label, value: ({ key }) => key },
    ...columnKeys.map((key) => ({
      ...{ id: key, label: key },
      value: ({ cells }: CrossRow) => {
        const cell = cells?.get(key)
        return cell && value(cell)
      },
    })),
  ]

  return (
    <>
      <Group gap="xs" mb="sm">
        <SegmentedControl
          size="xs"
          aria-label="Measure"
          value={measure}
          onChange={(chosen) => change({ measure: chosen as Measure })}
          data={measures.map((each) => ({ value: each, label: shown[each].label }))}
        />
        <Text size="xs" c="dimmed">{`The ${crossKeys} of each with the most invocations.`}</Text>
        <ExportMenu label="Breakdown" csv={() => saveCsv(`${group}-by-${across}`, figures, crossRows)} />
      </Group>
      {failed && (
        <ProblemNotice error={failed.error} title="Some rows could not be read" onRetry={() => void failed.refetch()} />
      )}
      <Loaded query={together(rows, columns)} what="figures" skeleton={<SkeletonLines lines={8} height={36} />}>
        {() => (
          <Table.ScrollContainer
            minWidth={180 + 100 * columnKeys.length}
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
              aria-label={`${label}: ${down.label.toLowerCase()} by ${right.label.toLowerCase()}`}
            >
              <Table.Thead>
                <Table.Tr>
                  <Table.Th scope="col">{down.label}</Table.Th>
                  {columnKeys.map((key) => (
                    <Table.Th key={key} scope="col" className={styles.head} title={key}>
                      {shownKey(across, key)}
                    </Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {crossRows.map(({ key, cells }) => (
                  <Table.Tr key={key}>
                    <Table.Th scope="row" className={styles.key} title={key}>
                      {shownKey(group, key)}
                    </Table.Th>
                    {columnKeys.map((other) => {
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
                            aria-label={`${text(value(cell))}: ${shownKey(group, key)} and ${shownKey(across, other)}. Show only these.`}
                            onClick={() => change({ [down.field]: key, [right.field]: other, across: undefined })}
                          >
                            {text(value(cell))}
                          </UnstyledButton>
                        </Table.Td>
                      )
                    })}
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )}
      </Loaded>
    </>
  )
}
