import { Button, Group, Paper, Select, Stack, Text, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { type ApiResponse, api } from '../../api/api-client.ts'
import type { Skill } from '../../components/full-lists.ts'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'

type Check = ApiResponse<'checkEntitlement'>

/** Checks whether a person may use a skill, and shows why not. */
export function EntitlementCheck({ skills }: { skills: readonly Skill[] }) {
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed, 250)
  const [userId, setUserId] = useState<string | null>(null)
  const [skillId, setSkillId] = useState<string | null>(null)
  const [asked, setAsked] = useState<{ userId: string; skillId: string }>()
  const users = api.useQuery('get', '/api/v1/roster/users', {
    params: { query: { limit: 50, ...(search && { search }) } },
  })
  const check = api.useQuery(
    'get',
    '/api/v1/skill-entitlement/check',
    { params: { query: { user_id: asked?.userId ?? '', skill_id: asked?.skillId ?? '' } } },
    { enabled: asked !== undefined, staleTime: 0 },
  )
  const people = users.data?.items.map(({ user_id, email, display_name }) => ({
    value: user_id,
    label: display_name ? `${display_name} (${email})` : email,
  }))
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="check">
      <Title order={2} id="check">
        Check entitlement
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        The answer that a platform gets now about a person and a skill.
      </Text>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!userId || !skillId) return
          const next = { userId, skillId }
          if (asked?.userId === userId && asked.skillId === skillId) void check.refetch()
          else setAsked(next)
        }}
      >
        <Group gap="xs" align="flex-end">
          <Select
            label="Person"
            placeholder="Address or name"
            searchable
            miw="16rem"
            flex={1}
            nothingFoundMessage={users.isFetching ? 'Looking …' : 'Nobody of that address or name'}
            data={people ?? []}
            filter={({ options }) => options}
            onSearchChange={(text) => setTyped(people?.some(({ label }) => label === text) ? '' : text)}
            value={userId}
            onChange={setUserId}
          />
          <Select
            label="Skill"
            placeholder="Id or name"
            searchable
            limit={100}
            miw="16rem"
            flex={1}
            data={skills.map(({ skill_id, name }) => ({ value: skill_id, label: `${name} (${skill_id})` }))}
            value={skillId}
            onChange={setSkillId}
          />
          <Button type="submit" disabled={!userId || !skillId} loading={check.isFetching}>
            Check
          </Button>
        </Group>
      </form>
      {asked && (
        <Stack mt="sm" aria-live="polite">
          <QueryBoundary query={check} what="entitlement" skeleton={<SkeletonLines lines={1} height={64} />}>
            {(answer) => <Verdict check={answer} />}
          </QueryBoundary>
        </Stack>
      )}
    </Paper>
  )
}

const reasons: Record<NonNullable<Check['reason']>, string> = {
  user_unknown: 'Nobody in the roster is known by this address or id.',
  user_deactivated: 'The person is deactivated. After reactivation they may use the skills of their archetypes.',
  skill_unknown: 'No skill of this id is registered.',
  skill_not_published: 'The skill is a draft. Publish it under Skills and packs.',
  skill_retired: 'The skill is retired, and nobody may use it any more.',
  no_archetype: 'The person has no archetype. Assign one in the roster, or map a group of theirs.',
  not_granted: 'The skill is granted to none of their archetypes. Grant it in the matrix above.',
}

function Verdict({ check }: { check: Check }) {
  if (!check.allowed) {
    return (
      <Notice kind="warning" title="Not allowed">
        {check.reason ? reasons[check.reason] : 'The Hub gives no reason.'}
      </Notice>
    )
  }
  return (
    <Notice kind="good" title="Allowed">
      {`Through ${check.archetype_ids.join(', ')}.${check.deprecated ? ' The skill is deprecated: it is on its way out.' : ''}`}
    </Notice>
  )
}
