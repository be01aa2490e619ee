import { Switch, Text, TextInput } from '@mantine/core'
import * as v from 'valibot'
import { viewNameLengthMax } from '../../contract/limits.ts'
import { Dialog } from '../ui/dialog.tsx'
import { MutationForm } from './mutation-form.tsx'
import type { Action } from './use-action.ts'
import { useMutationForm } from './use-mutation-form.ts'

const schema = v.object({
  name: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'A view needs a name.'),
    v.maxLength(viewNameLengthMax, `At most ${viewNameLengthMax} characters.`),
  ),
  shared: v.boolean(),
})

interface ViewDialogProps<Result>
  extends Pick<Action<Result, { name: string; shared: boolean }>, 'send' | 'done' | 'onDone'> {
  onClose(): void
  /** One sentence on the saved state. */
  about?: string
  view?: { name: string; shared: boolean }
}

/** Requests the name of a view and its visibility. */
export function ViewDialog<Result>({
  opened,
  title,
  ...rest
}: ViewDialogProps<Result> & { opened: boolean; title: string }) {
  return (
    <Dialog opened={opened} onClose={rest.onClose} title={title} centered>
      {opened && <ViewForm {...rest} />}
    </Dialog>
  )
}

function ViewForm<Result>({ onClose, about, view, send, done, onDone }: ViewDialogProps<Result>) {
  const form = useMutationForm({
    initialValues: { name: view?.name ?? '', shared: view?.shared ?? false },
    schema,
    send: (values) => send(v.parse(schema, values)),
    done,
    refresh: ['/api/v1/views'],
    onDone: (result: Result) => {
      onDone?.(result)
      onClose()
    },
  })
  return (
    <MutationForm form={form} submit="Save" failed="The view was not saved" onCancel={onClose}>
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
    </MutationForm>
  )
}
