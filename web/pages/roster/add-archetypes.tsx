import { Button, Group, Paper, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import * as v from 'valibot'
import { patterns } from '../../../contract/literals.ts'
import type { Archetype } from '../../components/full-lists.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'

const entry = v.object({
  archetype_id: v.pipe(
    v.string(),
    v.trim(),
    v.regex(new RegExp(patterns.identifier), 'Letters, digits and . _ : - only, at most 128.'),
  ),
  name: v.pipe(v.string(), v.trim(), v.maxLength(200)),
})

interface AddArchetypesProps {
  taken: readonly Archetype[]
  onAdd(archetype: Archetype): Promise<unknown>
}

/** Adds an archetype to the bundle, or renames an existing one. */
export function AddArchetypes({ taken, onAdd }: AddArchetypesProps) {
  const form = useMutationForm({
    initialValues: { archetype_id: '', name: '' },
    schema: entry,
    send: async ({ archetype_id, name }) => {
      await onAdd({ archetype_id: archetype_id.trim(), ...(name.trim() && { name: name.trim() }) })
      return { data: archetype_id.trim() }
    },
    fieldOf: (member) => /^archetypes\.\d+\.(\w+)$/.exec(member)?.[1],
    done: (added) => `${added} is added.`,
    refresh: 'everything',
    onDone: (_, { reset, getInputNode }) => {
      reset()
      getInputNode('archetype_id')?.focus()
    },
  })
  const isThere = taken.some(({ archetype_id }) => archetype_id === form.values.archetype_id.trim())
  return (
    <Paper withBorder p="md">
      <MutationForm form={form} submit="Add archetype" failed="The archetype could not be added" buttons={null}>
        <Group align="flex-start" gap="sm">
          <TextInput label="Id" placeholder="support-agent" flex="1 1 12rem" {...form.getInputProps('archetype_id')} />
          <TextInput label="Name" placeholder="Support agent" flex="1 1 12rem" {...form.getInputProps('name')} />
          <Button
            type="submit"
            leftSection={isThere ? undefined : <IconPlus size={16} />}
            loading={form.busy}
            mt={{ base: 0, sm: '1.55rem' }}
          >
            {isThere ? 'Rename archetype' : 'Add archetype'}
          </Button>
        </Group>
      </MutationForm>
    </Paper>
  )
}
