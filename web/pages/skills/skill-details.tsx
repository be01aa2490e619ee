import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import type { Skill } from '../../components/full-lists.ts'
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { type SkillState, SkillStateBadge, skillStates, transitionVerbs } from './skill-states.tsx'

/** Shows a skill with its versions, and changes its state. */
export function SkillDetails({ skill }: { skill: Skill }) {
  const me = useMe()
  const queryClient = useQueryClient()
  const [asked, setAsked] = useState<SkillState>()
  const transition = api.useMutation('post', '/api/v1/skill-entitlement/skills/{skill_id}:transition')
  async function move(state: SkillState) {
    await transition.mutateAsync({ params: { path: { skill_id: skill.skill_id } }, body: { state } })
    notifyDone(`${skill.name} is ${state}.`)
    await queryClient.invalidateQueries()
  }
  return (
    <>
      <Stack gap="xs">
        <Group gap="xs">
          <SkillStateBadge state={skill.state} />
        </Group>
        <CopyText value={skill.skill_id} label="Copy skill id" />
        <Text size="sm">{skillStates[skill.state].means}</Text>
        {me.may('transitionSkill') && skillStates[skill.state].next.length > 0 && (
          <Group gap="xs">
            {skillStates[skill.state].next.map((state) => (
              <Button
                key={state}
                size="xs"
                variant={state === 'retired' ? 'light' : 'default'}
                color={state === 'retired' ? 'red' : undefined}
                onClick={() => setAsked(state)}
              >
                {transitionVerbs[state]}
              </Button>
            ))}
          </Group>
        )}
      </Stack>
      <Stack gap="xs">
        <Title order={3}>Versions</Title>
        {skill.versions.toReversed().map(({ record_id, skill_version, registered_at }) => (
          <Group key={record_id} justify="space-between" gap="xs">
            {me.may('queryRecords') ? (
              <Anchor
                size="sm"
                underline="always"
                renderRoot={(props) => <Link to="/records/$recordId" params={{ recordId: record_id }} {...props} />}
              >
                {skill_version}
              </Anchor>
            ) : (
              <Text size="sm">{skill_version}</Text>
            )}
            <Text size="sm" c="dimmed">
              <TimeText iso={registered_at} />
            </Text>
          </Group>
        ))}
      </Stack>
      <ConfirmDialog
        opened={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={asked ? `${transitionVerbs[asked]} ${skill.name}?` : ''}
        confirmLabel={asked ? transitionVerbs[asked] : ''}
        danger={asked === 'retired'}
        typeToConfirm={asked === 'retired' ? skill.skill_id : undefined}
        onConfirm={() => move(asked ?? skill.state)}
        problem={(error) => <ProblemNotice error={error} title="The skill could not be moved" />}
      >
        {asked && (
          <Text size="sm">
            {skillStates[asked].means} {asked !== 'retired' && wayBack[asked]}
          </Text>
        )}
      </ConfirmDialog>
    </>
  )
}

const wayBack = {
  draft: '',
  published: 'It can be deprecated later.',
  deprecated: 'It can be published again.',
} as const
