import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { queryClient } from '../../api/query-client.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { type Scim, scimPath } from './directory-form.tsx'

interface DirectorySecretsProps {
  scim: Scim
  onSecrets(shown: Partial<Scim>): void
}

/** Shows the values to enter in the directory, rotates secrets, and removes the connection. */
export function DirectorySecrets({ scim, onSecrets }: DirectorySecretsProps) {
  const me = useMe()
  const [asked, setAsked] = useState<'token' | 'inbound' | 'remove'>()
  const close = () => setAsked(undefined)
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="directory-access">
      <Title order={2} id="directory-access" mb="sm">
        Addresses and secrets
      </Title>
      <Stack gap="sm">
        {scim.mode === 'push' && (
          <div>
            <Text size="xs" c="dimmed">
              Address to enter at the directory
            </Text>
            <CopyText value={scim.scim_base_url} label="Copy address" />
          </div>
        )}
        {scim.mode === 'push' && (
          <Text size="sm">
            {scim.last_request_at ? (
              <>
                The directory called last <TimeText iso={scim.last_request_at} form="ago" />.
              </>
            ) : (
              'The directory has not called yet.'
            )}
          </Text>
        )}
        {scim.former_token_until && (
          <Text size="sm">
            The former token is good until <TimeText iso={scim.former_token_until} />.
          </Text>
        )}
        <div>
          <Text size="xs" c="dimmed">
            Connection for inbound messages
          </Text>
          <CopyText value={scim.inbound.connection_id} label="Copy connection id" />
        </div>
        <Group gap="xs">
          {scim.mode === 'push' && (
            <Button variant="default" size="xs" onClick={() => setAsked('token')}>
              Rotate token
            </Button>
          )}
          {me.may('rotateScimInboundSecret') && (
            <Button variant="default" size="xs" onClick={() => setAsked('inbound')}>
              Rotate inbound secret
            </Button>
          )}
          <Button variant="light" color="red" size="xs" onClick={() => setAsked('remove')}>
            Remove
          </Button>
        </Group>
      </Stack>
      <ConfirmDialog
        opened={asked === 'token'}
        onClose={close}
        title="Rotate the token of the directory?"
        confirmLabel="Rotate token"
        failed="The token could not be rotated"
        send={() => hub.POST('/api/v1/identity/scim:rotate-token', {})}
        refresh={[scimPath]}
        onDone={onSecrets}
      >
        <Text size="sm">
          You get a new token, once. The present one stays good for 24 hours, so that you can change it at the directory
          without a gap; any older one ends at once.
        </Text>
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === 'inbound'}
        onClose={close}
        title="Rotate the inbound secret?"
        confirmLabel="Rotate secret"
        failed="The secret could not be rotated"
        send={() => hub.POST('/api/v1/identity/scim:rotate-inbound-secret', {})}
        onDone={(inbound) => onSecrets({ inbound })}
      >
        <Text size="sm">
          You get a new secret, once, for messages that the identity provider signs. The present one stays good for 24
          hours; any older one ends at once.
        </Text>
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === 'remove'}
        onClose={close}
        title="Remove the directory?"
        confirmLabel="Remove directory"
        danger
        failed="The directory could not be removed"
        send={() => hub.DELETE(scimPath, {})}
        done="The directory is removed."
        onDone={() => queryClient.resetQueries({ queryKey: ['get', scimPath] })}
      >
        <Text size="sm">
          The directory no longer reaches the Hub, nor the Hub it; a sync that runs is cancelled, and its tokens end.
          People, groups and archetypes stay as they are, but nobody is added or deactivated by the directory any more.
        </Text>
      </ConfirmDialog>
    </Paper>
  )
}
