import { Button, Group, Paper, SegmentedControl, SimpleGrid, Text, Title, UnstyledButton } from '@mantine/core'
import { IconListSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { combineQueries } from '../../components/combined-query.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { formatCount, formatMs, formatUsd } from '../../ui/formats.ts'
import { type Dimension, dimensionOf, nextDimension, shownKey } from './breakdown/dimensions.ts'
import { type Driver, driversOf, type ExplainedMetric, explained, fewestForLatency } from './change-drivers.ts'
import { ChangeText } from './change-text.tsx'
import { useMetricsByKey } from './use-metrics.ts'
import type { SearchState } from './use-search-state.ts'

const explaining = (['skill', 'model', 'archetype', 'user'] as const).map(dimensionOf)
const formats: Record<ExplainedMetric, (value: number) => string> = {
  cost: formatUsd,
  failures: formatCount,
  latency: formatMs,
}

/**
 * Names what contributed most to a change from the previous period, by skill, model, archetype and user. It loads on
 * request only: each dimension takes two summaries.
 */
export default function WhatChanged(center: SearchState) {
  const [isOpen, setOpen] = useState(false)
  const [metric, setMetric] = useState<ExplainedMetric>('cost')
  return (
    <Paper withBorder p="md" mb="md" component="section" aria-label="What changed">
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h3">
          What changed
        </Title>
        {isOpen ? (
          <SegmentedControl
            aria-label="Metric"
            size="xs"
            value={metric}
            onChange={(value) => setMetric(value as ExplainedMetric)}
            data={explained.map((each) => ({ value: each.metric, label: each.label }))}
          />
        ) : (
          <Button size="xs" variant="default" leftSection={<IconListSearch size={14} />} onClick={() => setOpen(true)}>
            Explain the change
          </Button>
        )}
      </Group>
      <Text size="xs" c="dimmed" mb={isOpen ? 'sm' : 0}>
        The three largest differences from the previous period. Choose one to filter the page by it.
        {metric === 'latency' && ` Keys with fewer than ${fewestForLatency} invocations in a period are left out.`}
      </Text>
      {isOpen && (
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="md">
          {explaining.map((dimension) => (
            <Drivers key={dimension.group} center={center} dimension={dimension} metric={metric} />
          ))}
        </SimpleGrid>
      )}
    </Paper>
  )
}

interface DriversProps {
  center: SearchState
  dimension: Dimension
  metric: ExplainedMetric
}

function Drivers({ center, dimension, metric }: DriversProps) {
  const { filters, range, change } = center
  const asked = { filters, group: dimension.group }
  const now = useMetricsByKey({ ...asked, span: range })
  const before = useMetricsByKey({ ...asked, span: range.before })

  function narrow({ key }: Driver) {
    const chosen = { [dimension.field]: key }
    change({ ...chosen, group_by: nextDimension({ ...filters, ...chosen }, dimension.group) })
  }

  return (
    <section aria-label={`Changes by ${dimension.label.toLowerCase()}`}>
      <Text size="sm" fw={600} mb={4}>
        {dimension.label}
      </Text>
      <QueryBoundary query={combineQueries(now, before)} what={dimension.plural.toLowerCase()}>
        {([current, earlier]) => {
          const drivers = driversOf(metric, current.rows, earlier.rows)
          return (
            <>
              {drivers.length === 0 && (
                <Text size="sm" c="dimmed">
                  {earlier.rows.length === 0 ? 'No events in the previous period' : 'No change'}
                </Text>
              )}
              {drivers.map((driver) => (
                <UnstyledButton key={driver.key} onClick={() => narrow(driver)} w="100%" py={4}>
                  <Text size="sm" truncate title={driver.key}>
                    {shownKey(dimension.group, driver.key)}
                  </Text>
                  <ChangeText
                    {...{ now: driver.now, before: driver.before, format: formats[metric], by: 'amount' }}
                    {...(metric !== 'cost' && { better: 'down' })}
                  />
                </UnstyledButton>
              ))}
              {!(current.complete && earlier.complete) && (
                <Text size="xs" c="dimmed">
                  {`There are more ${dimension.plural.toLowerCase()}: set a filter to see the rest.`}
                </Text>
              )}
            </>
          )
        }}
      </QueryBoundary>
    </section>
  )
}
