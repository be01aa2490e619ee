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
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { LiveTest } from './live-test.tsx'
import { refreshWebhooks } from './refresh-webhooks.ts'
import { SecretRotation } from './secret-rotation.tsx'
import { WebhookEditor } from './webhook-editor.tsx'
import type { Webhook } from './webhook-form.ts'

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
    void refreshWebhooks()
  }
  const { webhook_id, enabled, health } = webhook
  const params = { path: { webhook_id } }

  async function turn() {
    await hub.PATCH('/api/v1/webhooks/{webhook_id}', { params, body: { enabled: !enabled } })
    notifyDone(enabled ? 'The endpoint is disabled.' : 'The endpoint is enabled.')
    await refreshWebhooks()
  }
  async function remove() {
    await hub.DELETE('/api/v1/webhooks/{webhook_id}', { params })
    notifyDone('The endpoint was removed.')
    await navigate({ to: '/webhooks' })
    await refreshWebhooks()
  }

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
      <LiveTest opened={open === 'test'} onClose={closeAndRead} webhookId={webhook_id} />
      <WebhookEditor
        opened={open === 'edit'}
        onClose={close}
        webhook={webhook}
        onSaved={() => {
          close()
          notifyDone('The endpoint was changed.')
        }}
      />
      <SecretRotation opened={open === 'rotate'} onClose={closeAndRead} webhook={webhook} />
      <ConfirmDialog
        opened={open === 'switch'}
        onClose={close}
        title={enabled ? 'Disable this endpoint?' : 'Enable this endpoint?'}
        confirmLabel={enabled ? 'Disable' : 'Enable'}
        onConfirm={turn}
        problem={(error) => <ProblemNotice error={error} />}
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
        onConfirm={remove}
        problem={(error) => <ProblemNotice error={error} />}
      >
        <Text size="sm">
          {`It goes with its secret, its alert rules and all deliveries of the last ${webhookDeliveryDays} days; what waits is not sent. This cannot be taken back. To stop it for a while, disable it.`}
        </Text>
      </ConfirmDialog>
    </>
  )
}
