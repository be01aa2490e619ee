import { Button, Group, Paper, Stack, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import * as v from 'valibot'
import { patterns } from '../../../contract/literals.ts'
import type { Archetype } from '../../components/full-lists.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'

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
  onAdd(archetype: Archetype): Promise<void>
}

/** Adds an archetype to the bundle, or renames an existing one. */
export function AddArchetypes({ taken, onAdd }: AddArchetypesProps) {
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const form = useForm({
    initialValues: { archetype_id: '', name: '' },
    validate: schemaResolver(entry, { sync: true }),
  })
  const isThere = taken.some(({ archetype_id }) => archetype_id === form.values.archetype_id.trim())
  const submit = form.onSubmit(async (values) => {
    setBusy(true)
    setFailure(undefined)
    try {
      const name = values.name.trim()
      await onAdd({ archetype_id: values.archetype_id.trim(), ...(name && { name }) })
      form.reset()
      form.getInputNode('archetype_id')?.focus()
    } catch (error) {
      setFailure(error)
    } finally {
      setBusy(false)
    }
  })
  return (
    <Paper withBorder p="md">
      <form onSubmit={submit} noValidate>
        <Stack gap="sm">
          <Group align="flex-start" gap="sm">
            <TextInput
              label="Id"
              placeholder="support-agent"
              flex="1 1 12rem"
              {...form.getInputProps('archetype_id')}
            />
            <TextInput label="Name" placeholder="Support agent" flex="1 1 12rem" {...form.getInputProps('name')} />
            <Button
              type="submit"
              leftSection={isThere ? undefined : <IconPlus size={16} />}
              loading={busy}
              mt={{ base: 0, sm: '1.55rem' }}
            >
              {isThere ? 'Rename archetype' : 'Add archetype'}
            </Button>
          </Group>
          {failure ? <ProblemNotice error={failure} title="The archetype could not be added" /> : null}
        </Stack>
      </form>
    </Paper>
  )
}
