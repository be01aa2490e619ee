import { Badge, Button, Group, MultiSelect, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { type ApiResponse, api, hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { archetypeChoice, useArchetypes } from '../../components/full-lists.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { useAction } from '../../components/use-action.ts'

const path = '/api/v1/roster/users/{user_id}/archetypes'

/** Shows the archetypes of a person and their source, and assigns them manually. */
export function PersonArchetypes({ userId }: { userId: string }) {
  const held = api.useQuery('get', path, { params: { path: { user_id: userId } } })
  return (
    <Stack gap="xs">
      <Title order={3}>Archetypes</Title>
      <QueryBoundary query={held} what="archetypes" skeleton={<SkeletonLines lines={2} height={36} />}>
        {(data) => <Held key={data.archetype_ids.join()} userId={userId} held={data} />}
      </QueryBoundary>
    </Stack>
  )
}

function Held({ userId, held }: { userId: string; held: ApiResponse<'getUserArchetypes'> }) {
  const me = useMe()
  const archetypes = useArchetypes()
  const [chosen, setChosen] = useState(held.archetype_ids)
  const params = { path: { user_id: userId } }
  const refresh = ['/api/v1/roster/users', '/api/v1/observability/tenant-health']
  const assign = useAction({
    send: () => hub.PUT(path, { params, body: { archetype_ids: chosen } }),
    done: 'The archetypes are assigned.',
    refresh,
  })
  const reset = useAction({ send: () => hub.DELETE(path, { params }), done: 'The groups decide again.', refresh })
  const failure = assign.error ?? reset.error
  const isSame = chosen.length === held.archetype_ids.length && chosen.every((id) => held.archetype_ids.includes(id))
  const origin = originOf(held)

  if (!me.may('replaceUserArchetypes')) {
    return (
      <>
        <Group gap={6}>
          {held.archetype_ids.map((id) => (
            <Badge key={id} variant="default">
              {id}
            </Badge>
          ))}
          {held.archetype_ids.length === 0 && <Text size="sm">None yet.</Text>}
        </Group>
        <Text size="sm" c="dimmed">
          {origin}
        </Text>
      </>
    )
  }
  return (
    <Stack gap="xs">
      <MultiSelect
        aria-label="Archetypes"
        placeholder={chosen.length === 0 ? 'Choose archetypes' : undefined}
        description={origin}
        searchable
        limit={100}
        nothingFoundMessage={archetypes.data?.length === 0 ? 'Add archetypes first.' : 'No archetype of that name'}
        data={archetypes.data?.map(archetypeChoice) ?? chosen}
        value={chosen}
        onChange={setChosen}
      />
      {failure ? <ProblemNotice error={failure} title="The archetypes could not be changed" /> : null}
      <Group gap="xs">
        <Button size="xs" disabled={isSame} loading={assign.isPending} onClick={() => assign.mutate()}>
          Assign archetypes
        </Button>
        {held.source === 'manual' && (
          <Button size="xs" variant="default" loading={reset.isPending} onClick={() => reset.mutate()}>
            Let groups decide again
          </Button>
        )}
      </Group>
    </Stack>
  )
}

function originOf({ source, archetype_ids }: ApiResponse<'getUserArchetypes'>): string {
  if (source === 'manual') return 'Given by hand: groups of the directory do not decide.'
  return archetype_ids.length > 0
    ? 'From the groups of the directory.'
    : 'None of their groups in the directory is mapped to an archetype.'
}
