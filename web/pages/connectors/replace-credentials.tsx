import { Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/api-client.ts'
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { FormButtons } from '../../ui/form-buttons.tsx'
import { type Connector, connectorsPath } from './connectors-table.tsx'
import { type Credential, CredentialFields, credentialsOf } from './credential-fields.tsx'

interface ReplaceCredentialsProps {
  connector: Connector
  opened: boolean
  onClose(): void
}

/** Replaces all stored credentials. */
export function ReplaceCredentials({ connector, opened, onClose }: ReplaceCredentialsProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title="Replace the credentials" size="lg">
      {opened && <CredentialsForm connector={connector} onClose={onClose} />}
    </Dialog>
  )
}

function CredentialsForm({ connector, onClose }: Omit<ReplaceCredentialsProps, 'opened'>) {
  const queryClient = useQueryClient()
  const names = connector.credentials.length > 0 ? connector.credentials : ['bearer_token']
  const [credentials, setCredentials] = useState<Credential[]>(names.map((name) => ({ name, value: '' })))
  const rotate = api.useMutation('post', '/api/v1/llm/connectors/{connector_id}:rotate-credentials', {
    onSuccess: () => {
      notifyDone('The credentials are replaced and used at once.')
      void queryClient.invalidateQueries({ queryKey: ['get', connectorsPath] })
      onClose()
    },
  })
  const failure: unknown = rotate.error
  const filled = credentialsOf(credentials)
  const dropped = connector.credentials.filter((name) => filled && !(name in filled))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (filled)
          rotate.mutate({
            params: { path: { connector_id: connector.connector_id } },
            body: { credentials: filled },
          })
      }}
    >
      <Stack>
        <CredentialFields value={credentials} onChange={setCredentials} />
        {dropped.length > 0 && <Text size="sm">{`Forgotten, because no value is given: ${dropped.join(', ')}.`}</Text>}
        {failure ? <ProblemNotice error={failure} /> : null}
        <FormButtons submit="Replace credentials" onCancel={onClose} busy={rotate.isPending} disabled={!filled} />
      </Stack>
    </form>
  )
}
