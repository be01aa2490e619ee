import { Badge, Button, Group, List, Paper, Progress, Stack, Text, Title } from '@mantine/core'
import { IconCloudUpload } from '@tabler/icons-react'
import { type ApiResponse, api, hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { isMissing } from '../../api/problem.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { toastProblem } from '../../components/toast.ts'
import { useAction } from '../../components/use-action.ts'
import { formatCount } from '../../ui/formats.ts'
import { TimeText } from '../../ui/time-text.tsx'

type Republish = ApiResponse<'getRepublish'>
const latestPath = '/api/v1/skill-entitlement/distribution:republish'
const runs = (job: Republish | undefined) => job?.status === 'queued' || job?.status === 'running'
const everyMs = 1500

/** Requests publication of the skills to every connector now. */
export function RepublishButton() {
  const republish = useAction({
    send: () => hub.POST(latestPath, {}),
    done: 'The skills are being published to every connector.',
    refresh: [latestPath],
    onError: (error) => toastProblem(error, 'The skills could not be published'),
  })
  return (
    <Button
      variant="default"
      leftSection={<IconCloudUpload size={16} />}
      loading={republish.isPending}
      onClick={() => republish.mutate()}
    >
      Publish skills now
    </Button>
  )
}

/** Shows the latest requested republication, with the result of each connector. */
export function LatestRepublish() {
  const me = useMe()
  const latest = api.useQuery(
    'get',
    latestPath,
    {},
    { refetchInterval: ({ state }) => (runs(state.data) ? everyMs : false) },
  )
  const connectors = api.useQuery(
    'get',
    '/api/v1/llm/connectors',
    { params: { query: { limit: 100 } } },
    { enabled: me.may('listConnectors') },
  )
  const nameOf = (id: string) =>
    connectors.data?.items.find(({ connector_id }) => connector_id === id)?.display_name ?? id
  const never = isMissing(latest)
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="publishing">
      <Group justify="space-between" mb="xs">
        <Title order={2} id="publishing">
          Publishing
        </Title>
        {me.may('republishSkills') && <RepublishButton />}
      </Group>
      <Text size="sm" c="dimmed" mb="sm">
        Published skills go to every connector by themselves, at least every 30 seconds. Publishing now sends them at
        once.
      </Text>
      {never ? (
        <Text size="sm">Nobody has requested it manually yet.</Text>
      ) : (
        <QueryBoundary query={latest} what="republication">
          {(job) => <Job job={job} nameOf={nameOf} />}
        </QueryBoundary>
      )}
    </Paper>
  )
}

const results: Record<Republish['results'][number]['status'], { word: string; color: string }> = {
  published: { word: 'Published', color: 'seal' },
  failed: { word: 'Failed', color: 'red' },
  removed: { word: 'Removed meanwhile', color: 'gray' },
  pulls: { word: 'Fetches by itself', color: 'blue' },
}

function Job({ job, nameOf }: { job: Republish; nameOf(id: string): string }) {
  const { done, total } = job.progress
  return (
    <Stack gap="xs">
      <Text size="sm" role="status">
        {runs(job)
          ? `Publishing: ${formatCount(done)} of ${formatCount(total)} connectors`
          : `Ended ${job.status === 'completed' ? 'well' : 'with failures'}: `}
        {!runs(job) && <TimeText iso={job.finished_at ?? job.created_at} form="ago" />}
      </Text>
      {runs(job) && <Progress value={total ? (done / total) * 100 : 0} animated aria-label="Connectors published to" />}
      {job.error && <Text size="sm">{job.error.detail}</Text>}
      <List listStyleType="none" spacing={6} aria-label="Results">
        {job.results.map(({ connector_id, status, error }) => (
          <List.Item key={connector_id}>
            <Group gap="xs">
              <Badge size="sm" variant="light" color={results[status].color}>
                {results[status].word}
              </Badge>
              <Text size="sm">{nameOf(connector_id)}</Text>
              {error && (
                <Text size="sm" c="dimmed">
                  {error.detail}
                </Text>
              )}
            </Group>
          </List.Item>
        ))}
      </List>
    </Stack>
  )
}
