import { Paper, Stack, Title } from '@mantine/core'
import { api } from '../../api/api-client.ts'
import { Help } from '../../components/help.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { formatCount } from '../../ui/formats.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { LogCheck } from './log-check.tsx'
import { LogEntries } from './log-entries.tsx'
import { LogKeysTable } from './log-keys-table.tsx'
import { OfflineAudit } from './offline-audit.tsx'

const checkpointPath = '/api/v1/hub/log/checkpoint'

export default function LogPage() {
  const checkpoint = api.useQuery('get', checkpointPath)
  return (
    <>
      <PageHeader
        title="Log"
        help={<Help term="Checkpoint" />}
        about="Every record of the tenant stands in one append-only log, whose state the Hub signs. This browser keeps the last state that it saw, and checks that the next one goes on from there."
      />
      <Stack gap="lg">
        <QueryBoundary query={checkpoint} what="log checkpoint">
          {({ tree_size, root_hash, signed_at, log_name, checkpoint: note }) => (
            <Paper withBorder p="md" component="section" aria-labelledby="log-state">
              <Title order={2} size="h3" mb="sm" id="log-state">
                State of the log
              </Title>
              <DescriptionList>
                <DescriptionItem name="Entries">{formatCount(tree_size)}</DescriptionItem>
                <DescriptionItem name="Signed">
                  <TimeText iso={signed_at} />
                </DescriptionItem>
                <DescriptionItem name="Root">
                  <CopyText value={root_hash} label="Copy the root" />
                </DescriptionItem>
                <DescriptionItem name="Name">
                  <CopyText value={log_name} label="Copy the name of the log" />
                </DescriptionItem>
                <DescriptionItem name="Checkpoint">
                  <CopyText value={note} shown="Signed note" label="Copy the signed checkpoint" />
                </DescriptionItem>
              </DescriptionList>
            </Paper>
          )}
        </QueryBoundary>
        <LogCheck />
        <LogKeysTable />
        {checkpoint.data && <LogEntries treeSize={checkpoint.data.tree_size} />}
        <OfflineAudit checkpoint={checkpoint.data} />
      </Stack>
    </>
  )
}
