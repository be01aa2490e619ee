import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { pageSizeMax, summaryDaysDefault } from '../../../contract/limits.ts'
import { api } from '../../api/api-client.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { formatCount } from '../../ui/formats.ts'

/** Returns the recent use of each model, and its share without a price. */
export function useCostsByModel() {
  return api.useQuery('get', '/api/v1/telemetry/reconciliation', {
    params: { query: { group_by: 'model', limit: pageSizeMax } },
  })
}

interface UnpricedModelsProps {
  byModel: ReturnType<typeof useCostsByModel>
  /** Absent for users who may not change prices. */
  onAdd?: ((llmModel: string) => void) | undefined
}

/** Lists recently used models without a known price. */
export function UnpricedModels({ byModel, onAdd }: UnpricedModelsProps) {
  return (
    <Stack component="section" aria-labelledby="unpriced" gap="sm">
      <Title order={2} id="unpriced">
        Without a price
      </Title>
      <QueryBoundary query={byModel} what="models without a price">
        {({ rows }) => {
          const unpriced = rows.filter((row) => row.unpriced > 0).sort((one, other) => other.unpriced - one.unpriced)
          if (unpriced.length === 0) {
            return (
              <Text size="sm" c="dimmed">
                {rows.length === 0
                  ? `No events in the last ${summaryDaysDefault} days.`
                  : `Every event of the last ${summaryDaysDefault} days has a price.`}
              </Text>
            )
          }
          return unpriced.map(({ key, unpriced: count }) => (
            <Paper key={key ?? ''} withBorder px="md" py="xs">
              <Group justify="space-between">
                <Text size="sm">
                  <Text span fw={600} inherit>
                    {key || 'Events that name no model'}
                  </Text>
                  {` · ${formatCount(count)} events of the last ${summaryDaysDefault} days`}
                </Text>
                {onAdd && key && (
                  <Button size="xs" variant="default" onClick={() => onAdd(key)}>
                    Add price
                  </Button>
                )}
              </Group>
            </Paper>
          ))
        }}
      </QueryBoundary>
    </Stack>
  )
}
