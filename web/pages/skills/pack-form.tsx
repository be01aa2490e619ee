import { Group, MultiSelect, Text, TextInput, Title } from '@mantine/core'
import * as v from 'valibot'
import { patterns } from '../../../contract/literals.ts'
import { api, hub } from '../../api/api-client.ts'
import { archetypeChoice, useArchetypes } from '../../components/full-lists.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'
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
  const archetypes = useArchetypes()
  const tenant = api.useQuery('get', '/api/v1/tenant')
  const form = useMutationForm({
    initialValues: {
      cowork_id: stored?.cowork_id ?? '',
      name: stored?.name ?? '',
      archetype_ids: stored?.archetype_ids ?? [],
      skills: stored?.skills ?? ([] as PackSkill[]),
    },
    schema: pack,
    // The one field of a manifest is its text.
    fieldOf: (member) => /^skills\.\d+\.manifest\b/.exec(member)?.[0],
    send: ({ cowork_id, ...body }) =>
      hub.PUT('/api/v1/skill-entitlement/coworks/{cowork_id}', {
        params: { path: { cowork_id: cowork_id.trim() } },
        body,
      }),
    done: 'The pack is stored. Apply it to bring it into effect.',
    refresh: [packsPath],
    onDone: ({ cowork_id }) => onStored(cowork_id),
  })
  return (
    <MutationForm form={form} submit={stored ? 'Save' : 'Add pack'} failed="The pack was not saved" onCancel={onCancel}>
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
    </MutationForm>
  )
}
