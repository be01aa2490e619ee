import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import type { Skill } from '../../components/full-lists.ts'
import { LinkText } from '../../components/link-text.tsx'
import { UsageLink } from '../../components/usage-link.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { type SkillState, SkillStateBadge, skillStates, transitionVerbs } from './skill-states.tsx'

interface SkillDetailsProps {
  skill: Skill
  /** True on the page of its usage, which needs no link to itself. */
  isOwnPage?: boolean
}

/** Shows a skill with its versions, and changes its state. */
export function SkillDetails({ skill, isOwnPage = false }: SkillDetailsProps) {
  const me = useMe()
  const [asked, setAsked] = useState<SkillState>()
  return (
    <>
      <Stack gap="xs">
        <Group gap="xs">
          <SkillStateBadge state={skill.state} />
        </Group>
        <CopyText value={skill.skill_id} label="Copy skill id" />
        {!isOwnPage && (
          <Text size="sm">
            <UsageLink group="skill" id={skill.skill_id}>
              Show usage
            </UsageLink>
          </Text>
        )}
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
              <LinkText to="/records/$recordId" params={{ recordId: record_id }} size="sm" underline="always">
                {skill_version}
              </LinkText>
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
        failed="The skill could not be moved"
        send={() =>
          hub.POST('/api/v1/skill-entitlement/skills/{skill_id}:transition', {
            params: { path: { skill_id: skill.skill_id } },
            body: { state: asked ?? skill.state },
          })
        }
        done={`${skill.name} is ${asked}.`}
        refresh="everything"
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
