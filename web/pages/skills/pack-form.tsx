import { Group, MultiSelect, Stack, Text, TextInput, Title } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import * as v from 'valibot'
import { patterns } from '../../../contract/literals.ts'
import { api } from '../../api/api-client.ts'
import { fieldErrors } from '../../api/problem.ts'
import { archetypeChoice, useArchetypes } from '../../components/full-lists.ts'
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { FormButtons } from '../../ui/form-buttons.tsx'
import { PackSkillFields } from './pack-skill-fields.tsx'
import { type Pack, type PackSkill, packsPath } from './packs.ts'

const identifier = v.pipe(
  v.string(),
  v.trim(),
  v.regex(new RegExp(patterns.identifier), 'Letters, digits and . _ : - only, at most 128.'),
)
const pack = v.object({
  cowork_id: identifier,
  name: v.pipe(v.string(), v.trim(), v.nonEmpty('Give the pack a name.'), v.maxLength(200)),
  archetype_ids: v.array(v.string()),
  skills: v.array(
    v.looseObject({
      skill_id: identifier,
      skill_version: v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+/, 'A version such as 1.0.0.')),
      name: v.pipe(v.string(), v.trim(), v.nonEmpty('Give the skill a name.'), v.maxLength(200)),
    }),
  ),
})

interface PackFormProps {
  pack: Pack | undefined
  onStored(packId: string): void
  onCancel(): void
}

/** Stores a pack. It takes effect when it is applied. */
export function PackForm({ pack: stored, onStored, onCancel }: PackFormProps) {
  const queryClient = useQueryClient()
  const archetypes = useArchetypes()
  const tenant = api.useQuery('get', '/api/v1/tenant')
  const store = api.useMutation('put', '/api/v1/skill-entitlement/coworks/{cowork_id}')
  const failure: unknown = store.error
  const form = useForm<{ cowork_id: string; name: string; archetype_ids: string[]; skills: PackSkill[] }>({
    initialValues: {
      cowork_id: stored?.cowork_id ?? '',
      name: stored?.name ?? '',
      archetype_ids: stored?.archetype_ids ?? [],
      skills: stored?.skills ?? [],
    },
    validate: schemaResolver(pack, { sync: true }),
  })
  const submit = form.onSubmit(async ({ cowork_id, ...body }) => {
    try {
      const { cowork_id: kept } = await store.mutateAsync({ params: { path: { cowork_id: cowork_id.trim() } }, body })
      notifyDone('The pack is stored. Apply it to bring it into effect.')
      await queryClient.invalidateQueries({ queryKey: ['get', packsPath] })
      onStored(kept)
    } catch (error) {
      form.setErrors(fieldErrors(error))
    }
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <TextInput
            label="Name"
            required
            maxLength={200}
            placeholder="Support desk"
            miw="14rem"
            {...form.getInputProps('name')}
          />
          <TextInput
            label="Id"
            required
            disabled={stored !== undefined}
            placeholder="support-desk"
            miw="14rem"
            {...form.getInputProps('cowork_id')}
          />
        </Group>
        <MultiSelect
          label="Archetypes"
          description="They may use the skills of the pack once it is applied."
          searchable
          limit={100}
          nothingFoundMessage="No archetype of that name"
          data={archetypes.data?.map(archetypeChoice) ?? form.values.archetype_ids}
          {...form.getInputProps('archetype_ids')}
        />
        <div>
          <Title order={3}>Skills</Title>
          <Text size="sm" c="dimmed">
            What is registered already stays as its record has it: a changed skill needs a new version.
          </Text>
        </div>
        <PackSkillFields form={form} withContent={tenant.data?.mode !== 'C'} />
        {failure ? <ProblemNotice error={failure} shownAtFields={Object.keys(form.errors)} /> : null}
        <FormButtons
          isDirty={() => form.isDirty()}
          submit={stored ? 'Save' : 'Add pack'}
          onCancel={onCancel}
          busy={store.isPending}
        />
      </Stack>
    </form>
  )
}
