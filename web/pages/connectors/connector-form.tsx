import { Group, Radio, Select, Stack, TextInput } from '@mantine/core'
import * as v from 'valibot'
import { hub } from '../../api/api-client.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'
import { type Connector, connectorsPath } from './connectors-table.tsx'
import { type Credential, CredentialFields, credentialsOf } from './credential-fields.tsx'

const platforms = [
  { value: 'claude', label: 'Claude' },
  { value: 'chatgpt', label: 'ChatGPT' },
  { value: 'gemini', label: 'Gemini' },
  { value: 'copilot', label: 'Copilot' },
  { value: 'slack', label: 'Slack' },
  { value: 'custom', label: 'Another platform' },
]

const settings = v.pipe(
  v.object({
    platform: v.string(),
    custom: v.string(),
    display_name: v.pipe(v.string(), v.trim(), v.nonEmpty('Give it a name that people recognise.'), v.maxLength(200)),
    delivery: v.picklist(['push', 'pull']),
    publish_url: v.union([v.literal(''), v.pipe(v.string(), v.trim(), v.url('This is no address.'))]),
    credentials: v.array(v.object({ name: v.string(), value: v.string() })),
  }),
  v.forward(
    v.partialCheck(
      [['platform'], ['custom']],
      ({ platform, custom }) => platform !== 'custom' || /^[a-z0-9][a-z0-9._-]{0,62}$/.test(custom.trim()),
      'Small letters, digits and . _ - only, such as desk.',
    ),
    ['custom'],
  ),
  v.forward(
    v.partialCheck(
      [['platform'], ['delivery'], ['publish_url']],
      ({ platform, delivery, publish_url }) =>
        delivery === 'pull' || platform === 'claude' || publish_url.trim() !== '',
      'Say where the Hub sends the skills to.',
    ),
    ['publish_url'],
  ),
)

interface ConnectorFormProps {
  /** The connector to change; absent for a new one. */
  connector?: Connector
  onSaved(connector: Connector): void
  onCancel(): void
}

/** Adds a connector, or changes one. */
export function ConnectorForm({ connector, onSaved, onCancel }: ConnectorFormProps) {
  const form = useMutationForm({
    initialValues: {
      platform: connector?.platform.split(':')[0] ?? 'claude',
      custom: connector?.platform.split(':')[1] ?? '',
      display_name: connector?.display_name ?? '',
      delivery: connector?.delivery ?? 'push',
      publish_url: connector?.publish_url ?? '',
      credentials: [] as Credential[],
    },
    schema: settings,
    fieldOf: (member, { platform }) => {
      if (member.startsWith('credentials')) return 'credentials'
      return member === 'platform' && platform === 'custom' ? 'custom' : undefined
    },
    send: (values) => {
      const publish_url = values.publish_url.trim()
      const body = {
        display_name: values.display_name.trim(),
        delivery: values.delivery,
        ...(values.delivery === 'push' && publish_url && { publish_url }),
        credentials: credentialsOf(values.credentials),
      }
      const platform = values.platform === 'custom' ? `custom:${values.custom.trim()}` : values.platform
      return connector
        ? hub.PATCH('/api/v1/llm/connectors/{connector_id}', {
            params: { path: { connector_id: connector.connector_id } },
            body,
          })
        : hub.POST(connectorsPath, { body: { ...body, platform } })
    },
    done: connector ? 'The connector is changed.' : 'The connector is added.',
    refresh: [connectorsPath],
    onDone: onSaved,
  })
  const { platform, delivery } = form.values
  return (
    <MutationForm
      form={form}
      submit={connector ? 'Save' : 'Add connector'}
      failed="The connector was not saved"
      onCancel={onCancel}
    >
      {!connector && (
        <Group align="flex-start" grow preventGrowOverflow={false}>
          <Select label="Platform" data={platforms} allowDeselect={false} {...form.getInputProps('platform')} />
          {platform === 'custom' && (
            <TextInput label="Name of the platform" placeholder="desk" {...form.getInputProps('custom')} />
          )}
        </Group>
      )}
      <TextInput
        label="Display name"
        required
        maxLength={200}
        placeholder="Claude, company-wide"
        {...form.getInputProps('display_name')}
      />
      <Radio.Group label="Delivery" {...form.getInputProps('delivery')}>
        <Stack gap="xs" mt={4}>
          <Radio
            value="push"
            label="Push"
            description="The Hub sends the signed list of skills, after each change and at least every 30 seconds."
          />
          <Radio
            value="pull"
            label="Pull"
            description="The platform fetches it from an address of the Hub, as a service account. Each fetch counts as a publish."
          />
        </Stack>
      </Radio.Group>
      {delivery === 'push' && (
        <TextInput
          label="Publish address"
          type="url"
          placeholder="https://desk.example.com/skills"
          description={
            platform === 'claude'
              ? 'Not needed where the credential anthropic_api_key is given: then skills go to Claude directly.'
              : 'https, and reachable for the Hub.'
          }
          {...form.getInputProps('publish_url')}
        />
      )}
      <CredentialFields {...form.getInputProps('credentials')} value={form.values.credentials} />
    </MutationForm>
  )
}
