import { Select, Text, TextInput } from '@mantine/core'
import * as v from 'valibot'
import type { Role } from '../../../contract/roles.ts'
import { hub } from '../../api/api-client.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { roleMeanings, roleOptions } from '../../components/role-labels.ts'
import { useMutationForm } from '../../components/use-mutation-form.ts'

const schema = v.object({
  email: v.pipe(v.string(), v.trim(), v.email('Give a whole address, such as lee@acme.example')),
})

/** Adds a person before their first sign-in. */
export function PersonForm({ onClose }: { onClose(): void }) {
  const form = useMutationForm({
    initialValues: { email: '', display_name: '', role: 'member' as Role },
    schema,
    send: ({ email, display_name, role }) =>
      hub.POST('/api/v1/roster/users', {
        body: { email: email.trim(), role, ...(display_name.trim() && { display_name: display_name.trim() }) },
      }),
    done: ({ email }) => `${email} is added.`,
    refresh: ['/api/v1/roster/users'],
    onDone: onClose,
  })
  return (
    <MutationForm form={form} submit="Add person" failed="Nobody was added" onCancel={onClose}>
      <TextInput
        label="E-mail address"
        type="email"
        required
        data-autofocus
        autoComplete="off"
        {...form.getInputProps('email')}
      />
      <TextInput label="Name" autoComplete="off" {...form.getInputProps('display_name')} />
      <Select
        label="Role"
        description={roleMeanings[form.values.role]}
        data={roleOptions}
        allowDeselect={false}
        {...form.getInputProps('role')}
      />
      <Text size="sm" c="dimmed">
        They get no message: send them the address of this Hub. They sign in with this address.
      </Text>
    </MutationForm>
  )
}
