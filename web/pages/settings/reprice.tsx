import { Button, Group, Loader, Paper, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { api, hub } from '../../api/api-client.ts'
import { queryClient } from '../../api/query-client.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { useAction } from '../../components/use-action.ts'
import { DateTimeInput } from '../../ui/date-time-input.tsx'
import { formatCount, formatUsd } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'

const pollMs = 2000

/** The details of the event at the end of a run (docs/prices.md, "Repricing"). */
interface RunDetails {
  job_id?: string
  checked?: number
  changed?: number
  cost_usd_computed_before?: number
  cost_usd_computed_after?: number
}

/** Reprices stored events at the current prices, and shows the result. */
export function Reprice() {
  const [from, setFrom] = useState<string>()
  const [to, setTo] = useState<string>()
  const start = useAction({
    send: () => hub.POST('/api/v1/telemetry/prices:rerate', { body: { from: from ?? '', ...(to && { to }) } }),
  })
  const jobId = start.data?.job_id
  // A governance event marks the end of a run; there is no other signal.
  const ended = api.useQuery(
    'get',
    '/api/v1/hub/records',
    { params: { query: { event_kind: 'telemetry.rerated', sort: '-created_at', limit: 20 } } },
    {
      enabled: jobId !== undefined,
      staleTime: 0,
      refetchInterval: ({ state }) => (runOf(state.data?.records, jobId) ? false : pollMs),
    },
  )
  const run = runOf(ended.data?.records, jobId)
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="rerate">
      <Stack gap="sm">
        <Title order={2} id="rerate">
          Recalculate costs
        </Title>
        <Text size="sm" c="dimmed" maw="44rem">
          A new price does not change stored events. A run calculates the cost of each event again, and metrics and
          reconciliation follow. The records stay unchanged and still verify. You can repeat it.
        </Text>
        <Group align="flex-end" gap="sm">
          <DateTimeInput label="Events from" required w={{ base: '100%', xs: 210 }} value={from} onChange={setFrom} />
          <DateTimeInput
            label="Events until"
            placeholder="Now"
            w={{ base: '100%', xs: 210 }}
            value={to}
            onChange={setTo}
          />
          <Button
            variant="default"
            disabled={!from || (jobId !== undefined && !run)}
            loading={start.isPending}
            onClick={() => start.mutate()}
          >
            Recalculate
          </Button>
        </Group>
        {start.error !== null && <ProblemNotice error={start.error} title="The run was not begun" />}
        <div aria-live="polite">
          {jobId && !run && (
            <Group gap="xs">
              <Loader size="xs" aria-hidden />
              <Text size="sm">
                The run is on its way, at some ten thousand events a second. You can leave this page.
              </Text>
            </Group>
          )}
          {run && (
            <Notice
              kind="good"
              title="The run has ended"
              actions={
                <Button size="xs" variant="default" onClick={() => void queryClient.invalidateQueries()}>
                  Reload the numbers
                </Button>
              }
            >
              {`Of ${formatCount(run.checked)} events ${formatCount(run.changed)} have another cost. Calculated cost of all: ${formatUsd(run.cost_usd_computed_before)} before, ${formatUsd(run.cost_usd_computed_after)} now.`}
            </Notice>
          )}
        </div>
      </Stack>
    </Paper>
  )
}

function runOf(items: readonly object[] | undefined, jobId: string | undefined): RunDetails | undefined {
  return items
    ?.map((item) => ('details' in item ? (item.details as RunDetails) : {}))
    .find((details) => jobId !== undefined && details.job_id === jobId)
}
