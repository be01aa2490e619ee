import { Button, Checkbox, Fieldset, Group, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useState } from 'react'
import * as v from 'valibot'
import { type Scope, scopes } from '../../../contract/scopes.ts'
import { type ApiResponse, type Body, hub } from '../../api/api-client.ts'
import { patchBody } from '../../api/patch-body.ts'
import { fieldErrors } from '../../api/problem.ts'
import { queryClient } from '../../api/query-client.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { DateTimeInput } from '../../ui/date-time-input.tsx'
import { SidePanel } from '../../ui/dialog.tsx'
import { FormButtons } from '../../ui/form-buttons.tsx'
import { scopeGroups, scopePresets } from './scope-labels.ts'

export type ServiceAccount = ApiResponse<'listServiceAccounts'>['items'][number]
type NewServiceAccount = ApiResponse<'createServiceAccount'>

const schema = v.object({
  name: v.pipe(v.string(), v.trim(), v.minLength(1, 'Say what program it is for')),
  scopes: v.pipe(v.array(v.string()), v.minLength(1, 'Choose at least one')),
})

interface ServiceAccountFormProps {
  opened: boolean
  onClose(): void
  /** The account to change; absent for a new one. */
  account?: ServiceAccount | undefined
  onCreated(account: NewServiceAccount): void
}

/** Creates a service account, or changes one. */
export function ServiceAccountForm({ opened, onClose, account, onCreated }: ServiceAccountFormProps) {
  return (
    <SidePanel
      opened={opened}
      onClose={onClose}
      size="lg"
      title={account ? 'Change service account' : 'Add service account'}
      closeOnClickOutside={false}
    >
      {opened && <Fields onClose={onClose} account={account} onCreated={onCreated} />}
    </SidePanel>
  )
}

function Fields({ onClose, account, onCreated }: Omit<ServiceAccountFormProps, 'opened'>) {
  const form = useForm({
    initialValues: {
      name: account?.name ?? '',
      scopes: (account?.scopes ?? []) as Scope[],
      expires_at: account?.expires_at,
      allowed_addresses: account?.allowed_addresses ?? [],
    },
    validate: schemaResolver(schema, { sync: true }),
  })
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const { values } = form

  async function save() {
    setBusy(true)
    setFailure(undefined)
    const { name, scopes, expires_at, allowed_addresses } = values
    try {
      if (account) {
        const bodyOf = (each: typeof values): Body<'updateServiceAccount'> => ({
          ...{ name: each.name.trim(), scopes: each.scopes, expires_at: each.expires_at ?? null },
          allowed_addresses: each.allowed_addresses.length > 0 ? each.allowed_addresses : null,
        })
        const body = patchBody(bodyOf(values), bodyOf(form.getInitialValues()))
        const params = { path: { client_id: account.client_id } }
        if (Object.keys(body).length > 0) await hub.PATCH('/api/v1/service-accounts/{client_id}', { params, body })
        onClose()
      } else {
        const body: Body<'createServiceAccount'> = {
          ...{ name: name.trim(), scopes },
          ...(expires_at && { expires_at }),
          ...(allowed_addresses.length > 0 && { allowed_addresses }),
        }
        const { data } = await hub.POST('/api/v1/service-accounts', { body })
        if (data) onCreated(data)
      }
      await queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/service-accounts'] })
    } catch (error) {
      const errors = fieldErrors(error)
      const [, ofAddress] = Object.entries(errors).find(([path]) => path.startsWith('allowed_addresses.')) ?? []
      form.setErrors({ ...errors, ...(ofAddress && { allowed_addresses: `An address ${ofAddress}` }) })
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <form onSubmit={form.onSubmit(() => void save())} noValidate>
      <Stack>
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
            <Checkbox.Group
              label="Scopes"
              value={values.scopes}
              onChange={(chosen) => form.setFieldValue('scopes', chosen as Scope[])}
              error={form.errors.scopes}
            >
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
          value={values.expires_at}
          onChange={(iso) => form.setFieldValue('expires_at', iso)}
          error={form.errors.expires_at}
        />
        <TagsInput
          label="Allowed addresses"
          description="IPv4 and IPv6 addresses, or networks such as 203.0.113.0/24. From anywhere where empty."
          placeholder={values.allowed_addresses.length === 0 ? 'From anywhere' : undefined}
          acceptValueOnBlur
          {...form.getInputProps('allowed_addresses')}
        />
        {failure !== undefined && (
          <ProblemNotice
            error={failure}
            title={account ? 'The account was not changed' : 'The account was not added'}
            shownAtFields={Object.keys(form.errors)}
          />
        )}
        {account && (
          <Text size="sm" c="dimmed">
            Fewer scopes, an earlier end or another list of addresses end its access tokens within 5 seconds; the
            program asks for another and has what it may now.
          </Text>
        )}
        <FormButtons
          isDirty={() => form.isDirty()}
          submit={account ? 'Save changes' : 'Add service account'}
          onCancel={onClose}
          busy={busy}
        />
      </Stack>
    </form>
  )
}
