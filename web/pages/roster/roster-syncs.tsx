import { Button, Group, Paper, Progress, Stack, Text, Title } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { api, hub } from '../../api/api-client.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { toastDone } from '../../components/toast.ts'
import { readAgain, useAction } from '../../components/use-action.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { formatCount } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { SyncConfirmation } from './sync-confirmation.tsx'
import { type RosterSync, syncColumns } from './sync-table.tsx'

export const syncsPath = '/api/v1/roster/scim-syncs'
export const syncsInit = { params: { query: { limit: 50 } } }
const isUnderWay = (sync: RosterSync | undefined) => sync?.status === 'queued' || sync?.status === 'running'

/** Shows syncs with the directory: the running one with its progress, those awaiting confirmation, and earlier ones. */
export function RosterSyncs({ mode }: { mode: 'push' | 'pull' }) {
  const syncs = api.useQuery('get', syncsPath, syncsInit, {
    refetchInterval: ({ state }) => (isUnderWay(state.data?.items[0]) ? 1000 : 20_000),
  })
  const [latest] = syncs.data?.items ?? []
  /** The id of the sync whose end the user is notified of. It may end before the page sees it running. */
  const awaited = useRef<string>(undefined)
  const begin = useAction({
    send: async () => {
      const response = await hub.POST('/api/v1/roster/scim:sync', {})
      awaited.current = response.data?.sync_id
      return response
    },
    refresh: [syncsPath],
  })
  const running = isUnderWay(latest)

  useEffect(() => {
    if (running) awaited.current = latest?.sync_id
    if (latest?.status !== 'completed' || latest.sync_id !== awaited.current) return
    awaited.current = undefined
    toastDone(`Synced: ${formatCount(latest.added)} added, ${formatCount(latest.updated)} updated.`)
    void readAgain(['/api/v1/roster/groups', '/api/v1/roster/users'])
  }, [running, latest])

  return (
    <Paper withBorder p="md" component="section" aria-labelledby="syncs">
      <Stack gap="sm">
        <Group justify="space-between">
          <div>
            <Title order={2} id="syncs">
              Syncs
            </Title>
            <Text size="sm" c="dimmed">
              {mode === 'pull'
                ? 'The Hub reads the directory every half hour, and whenever you say so.'
                : 'The directory sends its changes. A sync brings archetypes in line with what it has sent.'}
            </Text>
          </div>
          <Button
            leftSection={<IconRefresh size={16} />}
            loading={begin.isPending}
            disabled={running}
            onClick={() => begin.mutate()}
          >
            Sync now
          </Button>
        </Group>
        {begin.error ? <ProblemNotice error={begin.error} title="The sync could not be begun" /> : null}
        <div aria-live="polite">
          {latest && running && <UnderWay sync={latest} />}
          {latest?.status === 'failed' && (
            <Notice kind="danger" title="The last sync failed">
              {latest.error?.detail ?? 'Test the connection below: it says what is wrong.'}
            </Notice>
          )}
        </div>
        {latest?.status === 'awaiting_confirmation' && <SyncConfirmation sync={latest} />}
        {latest && (latest.skipped_entries?.length ?? 0) > 0 && <Skipped sync={latest} />}
        {latest && (latest.kept_active?.length ?? 0) > 0 && (
          <Notice kind="warning" title="The last administrator stays active">
            The directory has them as inactive. Make somebody else administrator first, then sync again.
          </Notice>
        )}
        <QueryBoundary query={syncs} what="syncs">
          {({ items }) =>
            items.length === 0 ? (
              <Text size="sm">There was none yet. Begin with Sync now.</Text>
            ) : (
              <DataTable
                label="Syncs"
                rows={items}
                columns={syncColumns}
                rowId={({ sync_id }) => sync_id}
                maxHeight="20rem"
                rowHeight={40}
              />
            )
          }
        </QueryBoundary>
      </Stack>
    </Paper>
  )
}

function UnderWay({ sync: { status, progress } }: { sync: RosterSync }) {
  const { done, total } = progress
  return (
    <div>
      <Text size="sm" mb={4}>
        {status === 'queued'
          ? 'The sync begins …'
          : `Syncing: ${formatCount(done)}${total === undefined ? '' : ` of ${formatCount(total)}`} entries`}
      </Text>
      <Progress value={total ? (done / total) * 100 : 0} animated aria-label="Progress of the sync" />
    </div>
  )
}

function Skipped({ sync }: { sync: RosterSync }) {
  return (
    <Notice kind="warning" title={`${formatCount(sync.skipped)} entries of the directory were left out`}>
      {sync.skipped_entries?.slice(0, 5).map(({ resource, place, reason }) => (
        <Text size="sm" key={`${resource} ${place}`}>{`${resource}, number ${place}: ${reason}`}</Text>
      ))}
    </Notice>
  )
}
