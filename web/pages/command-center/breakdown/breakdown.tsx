import { Button, Group, Paper, SegmentedControl, Select, Title } from '@mantine/core'
import { IconDatabaseSearch } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import { useMe } from '../../../api/me.ts'
import { CsvButton } from '../../../ui/csv-button.tsx'
import { saveCsv } from '../../../ui/save-csv.ts'
import { isoOf } from '../ranges.ts'
import type { SearchState } from '../use-search-state.ts'
import styles from './breakdown.module.css'
import { breakdownFigures } from './breakdown-rows.tsx'
import { BreakdownTable } from './breakdown-table.tsx'
import { dimensions, type Group as GroupBy, recordsOf } from './dimensions.ts'
import { PivotTable, pivotMetrics } from './pivot-table.tsx'
import { useBreakdown } from './use-breakdown.ts'
import { usePivot } from './use-pivot.ts'

/** Shows the metrics by one dimension, or by two. */
export function Breakdown(center: SearchState) {
  const { search, filters, range, group, change } = center
  const me = useMe()
  const across = search.across === group ? undefined : search.across
  const keys = useBreakdown(center, across === undefined)
  const cross = usePivot({ group, across, span: range, filters })
  const heading = useRef<HTMLHeadingElement>(null)

  /** The selected row disappears: the keyboard focus continues from here. */
  const narrow: SearchState['change'] = (changes) => {
    change(changes)
    heading.current?.focus()
  }

  function csv() {
    if (!across) return keys.rows && (() => saveCsv(`breakdown-by-${group}`, breakdownFigures(group), keys.rows ?? []))
    const isWhole = cross.columns.data && cross.crossRows.every(({ cells }) => cells)
    const figures = pivotMetrics(group, cross.columnKeys, search.measure)
    return isWhole ? () => saveCsv(`${group}-by-${across}`, figures, cross.crossRows) : undefined
  }

  return (
    <Paper withBorder p="md" mb="md" component="section" aria-label="Breakdown">
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h3" ref={heading} tabIndex={-1} className={styles.heading}>
          Breakdown
        </Title>
        <Group gap="xs">
          <CsvButton label="Breakdown" save={csv()} />
          {me.may('queryRecords') && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconDatabaseSearch size={14} />}
              component={Link}
              to={`/records?${new URLSearchParams(recordsOf(filters, isoOf(range.from), isoOf(range.to)))}`}
            >
              Show records
            </Button>
          )}
        </Group>
      </Group>
      <Group gap="xs" mb="sm">
        <SegmentedControl
          aria-label="Break down by"
          size="xs"
          value={group}
          onChange={(value) => change({ group_by: value as GroupBy })}
          data={dimensions.map((each) => ({ value: each.group, label: each.label }))}
        />
        <Select
          size="xs"
          w={150}
          aria-label="Split by a second dimension"
          placeholder="Compare with …"
          clearable
          value={across ?? null}
          onChange={(value) => change({ across: (value ?? undefined) as GroupBy | undefined })}
          data={dimensions
            .filter((each) => each.group !== group)
            .map((each) => ({ value: each.group, label: `× ${each.label}` }))}
        />
      </Group>
      {across ? (
        <PivotTable {...center} across={across} cross={cross} change={change} narrow={narrow} />
      ) : (
        <BreakdownTable {...center} keys={keys} narrow={narrow} />
      )}
    </Paper>
  )
}
