import { Button, Code, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ConnectionTest, type StepLabels } from '../../components/connection-test.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { formatCount } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { ConnectorForm } from './connector-form.tsx'
import { type Connector, connectorsPath, HealthBadge, healthWords, platformName } from './connectors-table.tsx'
import { ReplaceCredentials } from './replace-credentials.tsx'

const words: StepLabels = {
  configuration: {
    title: 'Configuration',
    advice: 'Replace the credentials: those that are kept cannot be used, or something is missing among them.',
  },
  address: {
    title: 'Address',
    advice:
      'Correct the publish address, or have its name resolve to a public address. Private addresses have to be allowed by the operator of the Hub.',
  },
  credentials: { title: 'Credentials', advice: 'Replace the credentials: the platform does not take them.' },
  publish: {
    title: 'Publish',
    advice: 'Look at the log of the receiver at this time. Where it refuses the Hub, replace the credentials.',
  },
  fetch: { title: 'Fetch', advice: 'Have the platform fetch the manifest address as a service account.' },
}

interface ConnectorDetailsProps {
  connector: Connector
  onSecret(secret: string): void
  onRemoved(): void
}

/** Shows a connector with its health and its actions. */
export function ConnectorDetails({ connector, onSecret, onRemoved }: ConnectorDetailsProps) {
  const me = useMe()
  const [asked, setAsked] = useState<'edit' | 'credentials' | 'secret' | 'remove'>()
  const close = () => setAsked(undefined)
  const params = { path: { connector_id: connector.connector_id } }
  const { health } = connector
  return (
    <Stack gap="lg">
      <Stack gap="xs">
        <Group gap="xs">
          <HealthBadge status={health.status} />
          <Text size="sm">{`${platformName(connector.platform)} · ${healthWords[health.status].means}`}</Text>
        </Group>
        {health.error && (
          <Notice
            kind="danger"
            title={`The last attempt failed${health.failures > 1 ? ` (${formatCount(health.failures)} times in a row)` : ''}`}
          >
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {health.error.detail} · <TimeText iso={health.error.at} form="ago" />
            </Text>
          </Notice>
        )}
        <DescriptionList>
          <DescriptionItem name="Last publish">
            {health.last_publish_at ? <TimeText iso={health.last_publish_at} /> : 'never'}
          </DescriptionItem>
          {connector.publish_url && (
            <DescriptionItem name="Publish address">
              <CopyText value={connector.publish_url} label="Copy publish address" />
            </DescriptionItem>
          )}
          <DescriptionItem name="Manifest address">
            <CopyText value={connector.manifest_url} label="Copy manifest address" />
            {connector.delivery === 'pull' && (
              <Text span size="xs" c="dimmed">
                To enter at the platform.
              </Text>
            )}
          </DescriptionItem>
          <DescriptionItem name="Credentials">
            {connector.credentials.length === 0
              ? 'none kept'
              : connector.credentials.map((name) => (
                  <Code key={name} mr={6}>
                    {name}
                  </Code>
                ))}
          </DescriptionItem>
          <DescriptionItem name="Not used">{connector.unused_credentials?.join(', ')}</DescriptionItem>
          <DescriptionItem name="Inbound messages">
            <CopyText value={connector.inbound.connection_id} label="Copy connection id" />
          </DescriptionItem>
        </DescriptionList>
      </Stack>
      <ConnectionTest
        about={
          connector.delivery === 'push'
            ? 'Sends the skills as a publish does. The health does not change.'
            : 'Looks whether the platform fetches.'
        }
        words={words}
        send={() => hub.POST('/api/v1/llm/connectors/{connector_id}:test', { params })}
      />
      <Group gap="xs">
        <Button variant="default" onClick={() => setAsked('edit')}>
          Edit
        </Button>
        <Button variant="default" onClick={() => setAsked('credentials')}>
          Replace credentials
        </Button>
        {me.may('rotateConnectorInboundSecret') && (
          <Button variant="default" onClick={() => setAsked('secret')}>
            Rotate inbound secret
          </Button>
        )}
        <Button variant="light" color="red" onClick={() => setAsked('remove')}>
          Remove
        </Button>
      </Group>
      <Dialog opened={asked === 'edit'} onClose={close} title={`Edit ${connector.display_name}`} size="lg">
        <ConnectorForm connector={connector} onCancel={close} onSaved={close} />
      </Dialog>
      <Dialog opened={asked === 'credentials'} onClose={close} title="Replace the credentials" size="lg">
        <ReplaceCredentials connector={connector} onClose={close} />
      </Dialog>
      <ConfirmDialog
        opened={asked === 'secret'}
        onClose={close}
        title="Rotate the inbound secret?"
        confirmLabel="Rotate secret"
        failed="The secret could not be rotated"
        send={() => hub.POST('/api/v1/llm/connectors/{connector_id}:rotate-inbound-secret', { params })}
        onDone={({ secret }) => onSecret(secret)}
      >
        <Text size="sm">
          You get a new secret, once. The present one stays good for 24 hours, so enter the new one at the platform by
          then; any older one ends at once.
        </Text>
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === 'remove'}
        onClose={close}
        title={`Remove ${connector.display_name}?`}
        confirmLabel="Remove connector"
        danger
        failed="The connector could not be removed"
        send={() => hub.DELETE('/api/v1/llm/connectors/{connector_id}', { params })}
        done={`${connector.display_name} is removed.`}
        refresh={[connectorsPath]}
        onDone={onRemoved}
      >
        <Text size="sm">
          Nothing is published to it any more, its credentials are forgotten, and messages that it sends are refused.
          The skills that it has stay there until the platform drops them. It cannot be taken back; added again, it
          needs its credentials again.
        </Text>
      </ConfirmDialog>
    </Stack>
  )
}
