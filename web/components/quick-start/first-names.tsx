import { Button } from '@mantine/core'
import { hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { Notice } from '../../ui/notice.tsx'
import { archetypesPath, skillsPath } from '../full-lists.ts'
import { toastProblem } from '../toast.ts'
import { useAction } from '../use-action.ts'
import { mappingPath, setDefaults } from './set-defaults.ts'
import type { Sample } from './use-sample.ts'

/** Shows what an event needs that the tenant does not have yet, with a button that creates it. */
export function FirstNames({ sample }: { sample: Sample }) {
  const me = useMe()
  const { hasSkill, hasArchetype, skillId, skillVersion, archetypeId } = sample
  const creation = useAction({
    send: async () => {
      // The list is replaced as a whole, so this is only for a tenant without archetypes.
      if (!hasArchetype) await hub.PUT(archetypesPath, { body: { archetypes: [{ archetype_id: archetypeId }] } })
      if (!hasSkill) {
        const skill = { skill_id: skillId, skill_version: skillVersion, name: skillId }
        await hub.POST('/api/v1/hub/records', { body: { record_type: 'skill_definition', ...skill } })
      }
      await setDefaults(sample)
    },
    done: 'The skill and the archetype were created.',
    refresh: [archetypesPath, skillsPath, mappingPath],
    onError: (error) => toastProblem(error, 'Could not create the skill and the archetype'),
  })
  if (hasSkill && hasArchetype) return null
  const lacking = [!hasSkill && `the skill ${skillId}`, !hasArchetype && `the archetype ${archetypeId}`]
  const names = lacking.filter(Boolean).join(' and ')
  const mayCreate = me.may('writeRecord') && me.may('replaceArchetypes') && me.may('replaceOtlpMapping')
  const remedy = mayCreate
    ? 'Create them now, and calls by OpenTelemetry that name none count under them.'
    : 'Ask an administrator to create them.'
  return (
    <Notice
      kind="info"
      title="A skill and an archetype are missing"
      actions={
        mayCreate && (
          <Button size="xs" loading={creation.isPending} onClick={() => creation.mutate()}>
            Create for the first event
          </Button>
        )
      }
    >
      {`The snippets use ${names}, which this tenant does not have yet. ${remedy}`}
    </Notice>
  )
}
