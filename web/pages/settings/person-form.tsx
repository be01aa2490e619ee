import { Select, TextInput } from '@mantine/core'
import * as v from 'valibot'
import type { Role } from '../../../contract/roles.ts'
import { hub } from '../../api/api-client.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { roleMeanings, roleOptions } from '../../components/role-labels.ts'
import { useMutationForm } from '../../components/use-mutation-form.ts'
import { DeliveryField } from './delivery-field.tsx'
import type { Invited } from './invitation-dialog.tsx'
import { inviteUser } from './invite-user.ts'

const schema = v.object({
  email: v.pipe(v.string(), v.trim(), v.email('Give a whole address, such as lee@acme.example')),
})

/** Adds a person before their first sign-in, and invites them. */
export function PersonForm({ onClose, onInvited }: { onClose(): void; onInvited(invited: Invited): void }) {
  const form = useMutationForm({
    initialValues: { email: '', display_name: '', role: 'member' as Role, invitation: 'default' },
    schema,
    send: async ({ email, display_name, role, invitation }): Promise<{ data?: Invited }> => {
      const { data: person } = await hub.POST('/api/v1/roster/users', {
        body: { email: email.trim(), role, ...(display_name.trim() && { display_name: display_name.trim() }) },
      })
      if (!person || invitation === 'none') return person ? { data: { person } } : {}
      // The person exists by now, so a failed invitation is not a failure of this form.
      const result: Omit<Invited, 'person'> = await inviteUser(person.user_id, invitation).catch((error: unknown) => ({
        error,
      }))
      return { data: { person, ...result } }
    },
    done: ({ person, invitation, error }) => (invitation || error ? undefined : `${person.email} is added.`),
    refresh: ['/api/v1/roster/users'],
    onDone: (result) => {
      onClose()
      if (result.invitation || result.error) onInvited(result)
    },
  })
  const submit = form.values.invitation === 'none' ? 'Add user' : 'Invite user'
  return (
    <MutationForm form={form} submit={submit} failed="Nobody was added" onCancel={onClose}>
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
      <DeliveryField input={form.getInputProps('invitation')} email={form.values.email} isOptional />
    </MutationForm>
  )
}
