import { ActionIcon, Button, Menu, Text } from '@mantine/core'
import {
  IconDots,
  IconKey,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconSend,
  IconTrash,
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { webhookDeliveryDays } from '../../../contract/limits.ts'
import { hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { readAgain } from '../../components/use-action.ts'
import { Dialog, SidePanel } from '../../ui/dialog.tsx'
import { TestRun } from './live-test.tsx'
import { SecretRotation } from './secret-rotation.tsx'
import { WebhookEditor } from './webhook-editor.tsx'
import type { Webhook } from './webhook-form.ts'

const webhooksPath = '/api/v1/webhooks'

type Action = 'test' | 'edit' | 'rotate' | 'switch' | 'remove'

/** Shows the actions on an endpoint. */
export function EndpointActions({ webhook }: { webhook: Webhook }) {
  const me = useMe()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Action>()
  const close = () => setOpen(undefined)
  // The test is among the deliveries.
  const closeAndRead = () => {
    close()
    void readAgain([webhooksPath])
  }
  const { webhook_id, enabled, health } = webhook
  const params = { path: { webhook_id } }

  return (
    <>
      {me.may('testWebhook') && (
        <Button leftSection={<IconSend size={16} />} onClick={() => setOpen('test')}>
          Live test
        </Button>
      )}
      {me.may('updateWebhook') && (
        <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => setOpen('edit')}>
          Edit
        </Button>
      )}
      {me.may('updateWebhook') && (
        <Menu position="bottom-end" width={220}>
          <Menu.Target>
            <ActionIcon variant="default" size={36} aria-label="More actions">
              <IconDots size={18} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<IconKey size={16} />} onClick={() => setOpen('rotate')}>
              Rotate secret
            </Menu.Item>
            <Menu.Item
              leftSection={enabled ? <IconPlayerPause size={16} /> : <IconPlayerPlay size={16} />}
              onClick={() => setOpen('switch')}
            >
              {enabled ? 'Disable' : 'Enable'}
            </Menu.Item>
            <Menu.Divider />
            <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={() => setOpen('remove')}>
              Remove
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      <Dialog opened={open === 'test'} onClose={closeAndRead} title="Live test" size="lg">
        <TestRun webhookId={webhook_id} />
      </Dialog>
      <SidePanel opened={open === 'edit'} onClose={close} title="Edit endpoint" size="lg" closeOnClickOutside={false}>
        <WebhookEditor onClose={close} webhook={webhook} onSaved={close} />
      </SidePanel>
      <SecretRotation opened={open === 'rotate'} onClose={closeAndRead} webhook={webhook} />
      <ConfirmDialog
        opened={open === 'switch'}
        onClose={close}
        title={enabled ? 'Disable this endpoint?' : 'Enable this endpoint?'}
        confirmLabel={enabled ? 'Disable' : 'Enable'}
        failed="The endpoint was not changed"
        send={() => hub.PATCH('/api/v1/webhooks/{webhook_id}', { params, body: { enabled: !enabled } })}
        done={enabled ? 'The endpoint is disabled.' : 'The endpoint is enabled.'}
        refresh={[webhooksPath]}
      >
        <Text size="sm">
          {enabled
            ? 'No further events are collected for it, and open alerts are deleted. Pending deliveries are sent once it is enabled again. Events in between are not sent.'
            : `It collects what happens from now on, with a clean slate.${health.pending > 0 ? ' Waiting deliveries are sent.' : ''} Deliveries that failed permanently can be redelivered.`}
        </Text>
      </ConfirmDialog>
      <ConfirmDialog
        opened={open === 'remove'}
        onClose={close}
        title="Remove this endpoint?"
        confirmLabel="Remove endpoint"
        danger
        failed="The endpoint was not removed"
        send={() => hub.DELETE('/api/v1/webhooks/{webhook_id}', { params })}
        done="The endpoint was removed."
        onDone={async () => {
          // The page of the endpoint must not read it again.
          await navigate({ to: '/webhooks' })
          await readAgain([webhooksPath])
        }}
      >
        <Text size="sm">
          {`It goes with its secret, its alert rules and all deliveries of the last ${webhookDeliveryDays} days; what waits is not sent. This cannot be taken back. To stop it for a while, disable it.`}
        </Text>
      </ConfirmDialog>
    </>
  )
}
