import { Stack, Switch, Text, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useState } from 'react'
import * as v from 'valibot'
import { viewNameLengthMax } from '../../contract/limits.ts'
import { fieldErrors } from '../api/problem.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormButtons } from '../ui/form-buttons.tsx'
import { ProblemNotice } from './problem-notice.tsx'

const schema = v.object({
  name: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'A view needs a name.'),
    v.maxLength(viewNameLengthMax, `At most ${viewNameLengthMax} characters.`),
  ),
  shared: v.boolean(),
})

interface ViewFormProps {
  onClose(): void
  /** One sentence on the saved state. */
  about?: string
  view?: { name: string; shared: boolean }
  onSave(body: { name: string; shared: boolean }): Promise<unknown>
}

/** Requests the name of a view and its visibility. */
export function ViewDialog({ opened, title, ...rest }: ViewFormProps & { opened: boolean; title: string }) {
  return (
    <Dialog opened={opened} onClose={rest.onClose} title={title} centered>
      {opened && <ViewForm {...rest} />}
    </Dialog>
  )
}

function ViewForm({ onClose, about, view, onSave }: ViewFormProps) {
  const [failure, setFailure] = useState<unknown>()
  const form = useForm({
    initialValues: { name: view?.name ?? '', shared: view?.shared ?? false },
    validate: schemaResolver(schema, { sync: true }),
  })
  const save = form.onSubmit(async (values) => {
    setFailure(undefined)
    try {
      await onSave(v.parse(schema, values))
      onClose()
    } catch (error) {
      setFailure(error)
      form.setErrors(fieldErrors(error))
    }
  })
  return (
    <form onSubmit={save} noValidate>
      <Stack>
        {about && <Text size="sm">{about}</Text>}
        <TextInput
          label="Name"
          required
          data-autofocus
          autoComplete="off"
          maxLength={viewNameLengthMax}
          {...form.getInputProps('name')}
        />
        <Switch
          label="Share with everybody of the tenant"
          description="They see the data their own role may see."
          {...form.getInputProps('shared', { type: 'checkbox' })}
        />
        {failure !== undefined && (
          <ProblemNotice error={failure} title="The view was not saved" shownAtFields={['name', 'shared']} />
        )}
        <FormButtons isDirty={() => form.isDirty()} submit="Save" onCancel={onClose} busy={form.submitting} />
      </Stack>
    </form>
  )
}
