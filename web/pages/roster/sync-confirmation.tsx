import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { hub } from '../../api/api-client.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { toastProblem } from '../../components/toast.ts'
import { useAction } from '../../components/use-action.ts'
import { formatCount } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import type { RosterSync } from './sync-table.tsx'

/** Confirms or rejects a sync that would deactivate many people: it waits until somebody has checked the directory. */
export function SyncConfirmation({ sync }: { sync: RosterSync }) {
  const [asks, setAsks] = useState(false)
  const params = { path: { sync_id: sync.sync_id } }
  const refresh = ['/api/v1/roster/scim-syncs']
  const cancel = useAction({
    send: () => hub.POST('/api/v1/roster/scim-syncs/{sync_id}:cancel', { params }),
    refresh,
    onError: (error) => toastProblem(error, 'The sync could not be cancelled'),
  })
  const count = sync.to_deactivate ?? 0
  const people = `${formatCount(count)} ${count === 1 ? 'person' : 'people'}`
  return (
    <Notice
      kind="warning"
      title={`The sync would deactivate ${people}, and waits for a yes`}
      urgent
      actions={
        <Group gap="xs">
          <Button size="xs" color="red.9" onClick={() => setAsks(true)}>
            {`Deactivate ${people}`}
          </Button>
          <Button size="xs" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel the sync
          </Button>
        </Group>
      }
    >
      <Text size="sm">{sync.confirmation_reason}</Text>
      <Text size="sm">
        This guards against a directory that is empty or cut off by mistake. Look at the directory first. Cancelled, the
        sync ends and nobody is deactivated; without an answer it lapses after a day.
      </Text>
      <ConfirmDialog
        opened={asks}
        onClose={() => setAsks(false)}
        title={`Deactivate ${people}?`}
        confirmLabel="Go on and deactivate"
        danger
        failed="The sync could not go on"
        send={() => hub.POST('/api/v1/roster/scim-syncs/{sync_id}:confirm', { params })}
        refresh={refresh}
      >
        <Text size="sm">
          They are signed out at once and can no longer sign in. What they did stays. Who is in the directory again at a
          later sync comes back.
        </Text>
      </ConfirmDialog>
    </Notice>
  )
}
