import { Button, Checkbox, Fieldset, Group, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import * as v from 'valibot'
import { type Scope, scopes } from '../../../contract/scopes.ts'
import { type ApiResponse, type Body, hub } from '../../api/api-client.ts'
import { patchBody } from '../../api/patch-body.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'
import { DateTimeInput } from '../../ui/date-time-input.tsx'
import { scopeGroups, scopePresets } from './scope-labels.ts'

export type ServiceAccount = ApiResponse<'listServiceAccounts'>['items'][number]
type NewServiceAccount = ApiResponse<'createServiceAccount'>

const schema = v.object({
  name: v.pipe(v.string(), v.trim(), v.minLength(1, 'Say what program it is for')),
  scopes: v.pipe(v.array(v.string()), v.minLength(1, 'Choose at least one')),
})

interface ServiceAccountFormProps {
  onClose(): void
  /** The account to change; absent for a new one. */
  account?: ServiceAccount | undefined
  onCreated(account: NewServiceAccount): void
}

/** Creates a service account, or changes one. */
export function ServiceAccountForm({ onClose, account, onCreated }: ServiceAccountFormProps) {
  const form = useMutationForm({
    initialValues: {
      name: account?.name ?? '',
      scopes: (account?.scopes ?? []) as Scope[],
      expires_at: account?.expires_at,
      allowed_addresses: account?.allowed_addresses ?? [],
    },
    schema,
    send: (values, opened) => (account ? change(account, values, opened) : create(values)),
    refresh: ['/api/v1/service-accounts'],
    onDone: (created: NewServiceAccount | undefined) => (created ? onCreated(created) : onClose()),
  })
  const { values } = form
  return (
    <MutationForm
      form={form}
      submit={account ? 'Save changes' : 'Add service account'}
      failed={account ? 'The account was not changed' : 'The account was not added'}
      onCancel={onClose}
    >
      <TextInput
        label="Name"
        description="For people: the program that uses it"
        required
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Fieldset legend="What it may do">
        <Stack gap="md">
          <div>
            <Text size="sm" c="dimmed" mb={6}>
              Give each program its own account and as little as it needs. For:
            </Text>
            <Group gap={6}>
              {scopePresets.map(({ label, scopes: least }) => (
                <Button
                  key={label}
                  variant="default"
                  size="compact-sm"
                  onClick={() => form.setFieldValue('scopes', [...least])}
                >
                  {label}
                </Button>
              ))}
            </Group>
          </div>
          <Checkbox.Group label="Scopes" {...form.getInputProps('scopes')}>
            <Stack gap="sm" mt={6} mb={4}>
              {scopeGroups.map(({ label, scopes: ofGroup }) => (
                <div key={label}>
                  <Text size="sm" c="dimmed" mb={4}>
                    {label}
                  </Text>
                  <Stack gap={6}>
                    {ofGroup.map((scope) => (
                      <Checkbox key={scope} value={scope} label={scope} description={scopes[scope]} />
                    ))}
                  </Stack>
                </div>
              ))}
            </Stack>
          </Checkbox.Group>
        </Stack>
      </Fieldset>
      <DateTimeInput
        label="Ends"
        description="From then on it gets no token, and none lasts longer. Never where empty."
        placeholder="Never"
        {...form.getInputProps('expires_at')}
      />
      <TagsInput
        label="Allowed addresses"
        description="IPv4 and IPv6 addresses, or networks such as 203.0.113.0/24. From anywhere where empty."
        placeholder={values.allowed_addresses.length === 0 ? 'From anywhere' : undefined}
        acceptValueOnBlur
        {...form.getInputProps('allowed_addresses')}
      />
      {account && (
        <Text size="sm" c="dimmed">
          Fewer scopes, an earlier end or another list of addresses end its access tokens within 5 seconds; the program
          asks for another and has what it may now.
        </Text>
      )}
    </MutationForm>
  )
}

interface AccountValues {
  name: string
  scopes: Scope[]
  expires_at: string | undefined
  allowed_addresses: string[]
}

function create({ name, scopes, expires_at, allowed_addresses }: AccountValues) {
  const body: Body<'createServiceAccount'> = {
    ...{ name: name.trim(), scopes },
    ...(expires_at && { expires_at }),
    ...(allowed_addresses.length > 0 && { allowed_addresses }),
  }
  return hub.POST('/api/v1/service-accounts', { body })
}

async function change({ client_id }: ServiceAccount, values: AccountValues, opened: AccountValues) {
  const bodyOf = ({ name, scopes, expires_at, allowed_addresses }: AccountValues) => ({
    ...{ name: name.trim(), scopes, expires_at: expires_at ?? null },
    allowed_addresses: allowed_addresses.length > 0 ? allowed_addresses : null,
  })
  const body = patchBody(bodyOf(values), bodyOf(opened))
  if (Object.keys(body).length > 0)
    await hub.PATCH('/api/v1/service-accounts/{client_id}', { params: { path: { client_id } }, body })
  return {}
}
