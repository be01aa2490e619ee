import { Button, Group, Loader, Text, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { api, hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { HubProblem } from '../../api/problem.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { LinkText } from '../../components/link-text.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { detail, type GovernanceEvent, recordIdOf } from './governance-event.ts'

/**
 * Shows the state of a record since it was purged. Reads it from the Hub, because the record may have been restored or
 * held.
 */
export function PurgeState({ event }: { event: GovernanceEvent }) {
  const me = useMe()
  const recordId = recordIdOf(event) ?? ''
  const params = { path: { record_id: recordId } }
  const mayAsk = me.may('getRecordState')
  const state = api.useQuery('get', '/api/v1/hub/records/{record_id}/state', { params }, { enabled: mayAsk })
  // Analysts may not read the state; the record itself states whether it is purged.
  const record = api.useQuery('get', '/api/v1/hub/records/{record_id}', { params }, { enabled: !mayAsk })
  const { data, error } = mayAsk ? state : record
  const failure: unknown = error

  if (failure instanceof HubProblem && failure.status === 404) {
    return (
      <Text size="sm">
        Erased:{' '}
        <LinkText to="/governance/certificates" search={{ record: recordId }} size="sm">
          certificate
        </LinkText>
      </Text>
    )
  }
  if (failure) {
    return (
      <Text size="sm" c="dimmed">
        could not be read
      </Text>
    )
  }
  if (!data) return <Loader size={14} aria-label="Reading the state" />
  if (!data.is_purged) return <Text size="sm">Restored</Text>
  const holds = state.data?.holds ?? []
  const until = state.data?.hard_delete_after ?? detail(event, 'hard_delete_after')
  return (
    <Group gap={4} wrap="nowrap">
      {holds.length > 0 ? (
        <Tooltip label={holds.map(({ name }) => name).join(', ')}>
          <Text size="sm">Kept by {holds.length === 1 ? 'a legal hold' : `${holds.length} legal holds`}</Text>
        </Tooltip>
      ) : (
        <Text size="sm">Erasure {until && <TimeText iso={until} form="ago" />}</Text>
      )}
      {me.may('restoreRecord') && <RestoreButton recordId={recordId} />}
    </Group>
  )
}

function RestoreButton({ recordId }: { recordId: string }) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={open} aria-label={`Restore record ${recordId}`}>
        Restore
      </Button>
      <ConfirmDialog
        opened={opened}
        onClose={close}
        title="Restore the record?"
        confirmLabel="Restore"
        failed="The record was not restored"
        send={() => hub.POST('/api/v1/hub/records/{record_id}:restore', { params: { path: { record_id: recordId } } })}
        done="The record is back."
        refresh={['/api/v1/hub/records/{record_id}']}
      >
        <Text size="sm">
          {`Record ${recordId} stands in queries, graphs and exports again, unchanged. It can be purged again later. Both are
          kept as governance events.`}
        </Text>
      </ConfirmDialog>
    </>
  )
}
