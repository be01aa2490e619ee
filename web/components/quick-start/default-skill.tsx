import { Button, Code, Text } from '@mantine/core'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { Notice } from '../../ui/notice.tsx'
import { toastProblem } from '../toast.ts'
import { useAction } from '../use-action.ts'
import { withDefaults } from './otlp-defaults.ts'
import { mappingPath, setDefaults } from './set-defaults.ts'
import type { Sample } from './use-sample.ts'

/** Shows the skill of calls that name none, and offers to set it while such calls are rejected. */
export function DefaultSkill({ sample }: { sample: Sample }) {
  const me = useMe()
  const mapping = api.useQuery('get', mappingPath, {}, { enabled: me.may('getOtlpMapping') })
  const choice = useAction({
    send: () => setDefaults(sample),
    done: `Calls that name no skill count under ${sample.skillId}.`,
    refresh: [mappingPath],
    onError: (error) => toastProblem(error, 'Could not set the default skill'),
  })
  if (!mapping.data) return null
  const { default_skill_id: skillId, default_archetype_id: archetypeId } = mapping.data
  if (skillId !== null) {
    return (
      <Text size="sm" ta="left">
        Calls that name no skill count under the default skill <Code>{skillId}</Code>.
      </Text>
    )
  }
  const exist = sample.hasSkill && sample.hasArchetype
  const mayChoose = exist && withDefaults(mapping.data, sample) !== undefined && me.may('replaceOtlpMapping')
  return (
    <Notice
      kind="warning"
      title="Calls that name no skill are rejected"
      actions={
        mayChoose && (
          <Button size="xs" loading={choice.isPending} onClick={() => choice.mutate()}>
            {`Count them under ${sample.skillId}`}
          </Button>
        )
      }
    >
      This tenant has no default skill, and Claude Code names a skill only while one is active.
      {mayChoose && archetypeId === null && ` The button also makes ${sample.archetypeId} the default archetype.`}
    </Notice>
  )
}
