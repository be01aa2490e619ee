import { Button, Group, Paper, SegmentedControl, Select, Text, Title } from '@mantine/core'
import { IconDatabaseSearch } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useMe } from '../../api/me.ts'
import { Loaded, SkeletonLines } from '../../components/loaded.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ExportMenu } from '../../ui/export-menu.tsx'
import { saveCsv } from '../../ui/save-csv.ts'
import { type BreakdownRow, breakdownColumns, breakdownFigures, breakdownRows, order } from './breakdown-rows.tsx'
import { CrossTable } from './cross-table.tsx'
import { dimensionOf, dimensions, type Group as GroupBy, nextDimension, recordsLabel, recordsOf } from './dimensions.ts'
import { isoOf } from './ranges.ts'
import type { Center } from './use-center.ts'
import { useFiguresByKey } from './use-figures.ts'

const height = 'max(16rem, 60dvh)'

/** The figures by one dimension, or by two. */
export function Breakdown(center: Center) {
  const { search, filters, range, group, change } = center
  const me = useMe()
  const across = search.across === group ? undefined : search.across
  return (
    <Paper withBorder p="md" mb="md" component="section" aria-label="Breakdown">
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h3">
          Breakdown
        </Title>
        {me.may('queryRecords') && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconDatabaseSearch size={14} />}
            component={Link}
            to={`/records?${new URLSearchParams(recordsOf(filters, isoOf(range.from), isoOf(range.to)))}`}
          >
            {recordsLabel(filters)}
          </Button>
        )}
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
          aria-label="And by a second dimension"
          placeholder="Compare with …"
          clearable
          value={across ?? null}
          onChange={(value) => change({ across: (value ?? undefined) as GroupBy | undefined })}
          data={dimensions
            .filter((each) => each.group !== group)
            .map((each) => ({ value: each.group, label: `× ${each.label}` }))}
        />
      </Group>
      {across ? <CrossTable {...center} across={across} /> : <OneDimension {...center} />}
    </Paper>
  )
}

/** A row drills down: it becomes a filter, and the next dimension is shown. */
function OneDimension({ search, filters, range, group, isLive, change }: Center) {
  const asked = { filters, group }
  const now = useFiguresByKey({ ...asked, span: range, live: isLive })
  const before = useFiguresByKey({ ...asked, span: range.before, enabled: now.isSuccess })
  const sort = {
    id: search.sort ?? 'invocations',
    desc: search.order ? search.order === 'desc' : search.sort !== 'key',
  }
  const { label, plural, field } = dimensionOf(group)
  const columns = useMemo(() => breakdownColumns(group), [group])
  const rows = useMemo(
    () => (now.data ? order(breakdownRows(group, now.data, before.data), sort.id, sort.desc) : []),
    [now.data, before.data, group, sort.id, sort.desc],
  )

  function drillDown({ key }: BreakdownRow) {
    if (key === undefined) return
    change({ [field]: key, group_by: nextDimension({ ...filters, [field]: key }, group) })
  }

  return (
    <Loaded query={now} what={plural.toLowerCase()} skeleton={<SkeletonLines lines={8} height={40} />}>
      {({ complete }) => (
        <>
          {!complete && (
            <Text size="sm" c="dimmed" mb="xs">
              {`There are more: these are the first ${rows.length} by name. Set a filter to see the rest.`}
            </Text>
          )}
          <Group justify="space-between" mb="xs" wrap="nowrap">
            <Text size="xs" c="dimmed">
              Choose a row to filter the page by it; the next dimension follows.
            </Text>
            <ExportMenu label="Breakdown" csv={() => saveCsv(`breakdown-by-${group}`, breakdownFigures(group), rows)} />
          </Group>
          {rows.length === 0 ? (
            <EmptyState title="No events here">Choose a longer range, or remove a filter.</EmptyState>
          ) : (
            <DataTable
              label={`Figures by ${label.toLowerCase()}`}
              columns={columns}
              rows={rows}
              rowId={(row) => row.key ?? ''}
              onOpen={drillDown}
              sort={sort}
              onSort={({ id, desc }) => change({ sort: id as typeof search.sort, order: desc ? 'desc' : 'asc' })}
              maxHeight={height}
              rowHeight={40}
            />
          )}
        </>
      )}
    </Loaded>
  )
}
