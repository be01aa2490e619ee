import { Select, Stack, Text, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useState } from 'react'
import * as v from 'valibot'
import type { Role } from '../../../contract/roles.ts'
import { hub } from '../../api/api-client.ts'
import { fieldErrors } from '../../api/problem.ts'
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { roleMeanings, roleOptions } from '../../components/role-labels.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { FormButtons } from '../../ui/form-buttons.tsx'
import { invalidatePeople } from './invalidate-people.ts'

const schema = v.object({
  email: v.pipe(v.string(), v.trim(), v.email('Give a whole address, such as lee@acme.example')),
})

/** Adds a person before their first sign-in. */
export function PersonForm({ opened, onClose }: { opened: boolean; onClose(): void }) {
  return (
    <Dialog opened={opened} onClose={onClose} title="Add person" closeOnClickOutside={false}>
      {opened && <Fields onClose={onClose} />}
    </Dialog>
  )
}

function Fields({ onClose }: { onClose(): void }) {
  const form = useForm({
    initialValues: { email: '', display_name: '', role: 'member' as Role },
    validate: schemaResolver(schema, { sync: true }),
  })
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)

  async function save() {
    setBusy(true)
    setFailure(undefined)
    const { email, display_name, role } = form.values
    try {
      await hub.POST('/api/v1/roster/users', {
        body: { email: email.trim(), role, ...(display_name.trim() && { display_name: display_name.trim() }) },
      })
      notifyDone(`${email.trim()} is added.`)
      onClose()
      await invalidatePeople()
    } catch (error) {
      form.setErrors(fieldErrors(error))
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <form onSubmit={form.onSubmit(() => void save())} noValidate>
      <Stack>
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
        {failure !== undefined && (
          <ProblemNotice error={failure} title="Nobody was added" shownAtFields={Object.keys(form.errors)} />
        )}
        <FormButtons isDirty={() => form.isDirty()} submit="Add person" onCancel={onClose} busy={busy} />
      </Stack>
    </form>
  )
}
