import { Text } from '@mantine/core'
import { hub } from '../../api/api-client.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'
import { type Connector, connectorsPath } from './connectors-table.tsx'
import { type Credential, CredentialFields, credentialsOf } from './credential-fields.tsx'

interface ReplaceCredentialsProps {
  connector: Connector
  onClose(): void
}

/** Replaces all stored credentials. */
export function ReplaceCredentials({ connector, onClose }: ReplaceCredentialsProps) {
  const names = connector.credentials.length > 0 ? connector.credentials : ['bearer_token']
  const form = useMutationForm({
    initialValues: { credentials: names.map((name): Credential => ({ name, value: '' })) },
    fieldOf: () => 'credentials',
    send: ({ credentials }) =>
      hub.POST('/api/v1/llm/connectors/{connector_id}:rotate-credentials', {
        params: { path: { connector_id: connector.connector_id } },
        body: { credentials: credentialsOf(credentials) ?? {} },
      }),
    done: 'The credentials are replaced and used at once.',
    refresh: [connectorsPath],
    onDone: onClose,
  })
  const filled = credentialsOf(form.values.credentials)
  const dropped = connector.credentials.filter((name) => filled && !(name in filled))
  return (
    <MutationForm
      form={form}
      submit="Replace credentials"
      failed="The credentials were not replaced"
      onCancel={onClose}
      disabled={!filled}
    >
      <CredentialFields {...form.getInputProps('credentials')} value={form.values.credentials} />
      {dropped.length > 0 && <Text size="sm">{`Forgotten, because no value is given: ${dropped.join(', ')}.`}</Text>}
    </MutationForm>
  )
}
