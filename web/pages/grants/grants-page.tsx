import { Box, Group, Stack } from '@mantine/core'
import { IconIdBadge2, IconSparkles } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useMe } from '../../api/me.ts'
import { combineQueries } from '../../components/combined-query.ts'
import { useArchetypes, useGrants, useSkills } from '../../components/full-lists.ts'
import { Help } from '../../components/help.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { FoldedFilters } from '../../ui/folded-filters.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EntitlementCheck } from './entitlement-check.tsx'
import { GrantsEditor } from './grants-editor.tsx'

const route = getRouteApi('/skills/grants')

export default function GrantsPage() {
  const me = useMe()
  const { skill = '', archetype = '' } = route.useSearch()
  const navigate = useNavigate({ from: '/skills/grants' })
  const archetypes = useArchetypes()
  const skills = useSkills()
  const grants = useGrants()
  const columns = useMemo(
    () => archetypes.data?.filter((each) => has(`${each.archetype_id} ${each.name ?? ''}`, archetype)),
    [archetypes.data, archetype],
  )
  const rows = useMemo(() => {
    const granted = new Set(grants.data?.map(({ skill_id }) => skill_id))
    return skills.data?.filter(
      (each) => (each.state !== 'retired' || granted.has(each.skill_id)) && has(`${each.skill_id} ${each.name}`, skill),
    )
  }, [skills.data, grants.data, skill])
  const all = combineQueries(archetypes, skills, grants)
  // Loads everything together, so that nothing moves twice.
  const isEmpty = all.data?.[0].length === 0 || all.data?.[1].length === 0
  const filter = (part: { skill?: string; archetype?: string }) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true })
  return (
    <>
      <PageHeader
        title="Grants"
        help={<Help term="Archetype" />}
        about={`Which archetypes may use which skills. ${me.may('replaceArchetypeGrants') ? 'Arrow keys move, space gives or takes; nothing is changed before you save.' : 'Your role may look, and not change.'}`}
      />
      <Stack gap="lg">
        <div>
          {!isEmpty && (
            <Box component="search" display="block" mb="sm" aria-label="Filters of the matrix">
              <FoldedFilters set={[skill, archetype].filter(Boolean).length}>
                <Group gap="xs">
                  <SearchField
                    label="Skills"
                    placeholder="Part of an id or name"
                    maxLength={128}
                    value={skill}
                    onSearch={(text) => filter({ skill: text })}
                  />
                  <SearchField
                    label="Archetypes"
                    placeholder="Part of an id or name"
                    maxLength={128}
                    value={archetype}
                    onSearch={(text) => filter({ archetype: text })}
                  />
                </Group>
              </FoldedFilters>
            </Box>
          )}
          <QueryBoundary query={all} what="skills, archetypes and grants" skeleton={<SkeletonLines lines={8} />}>
            {([allArchetypes, allSkills, given]) =>
              allArchetypes.length === 0 || allSkills.length === 0 ? (
                <NothingToGrant archetypes={allArchetypes.length} />
              ) : (
                <GrantsEditor archetypes={columns ?? []} skills={rows ?? []} grants={given} />
              )
            }
          </QueryBoundary>
        </div>
        {Boolean(all.data ?? all.error) && <EntitlementCheck skills={skills.data ?? []} />}
      </Stack>
    </>
  )
}

const has = (text: string, part: string) => text.toLowerCase().includes(part.trim().toLowerCase())

function NothingToGrant({ archetypes }: { archetypes: number }) {
  return archetypes === 0 ? (
    <EmptyState
      title="No archetypes yet"
      icon={IconIdBadge2}
      action={
        <LinkButton to="/skills/roster" search={{ tab: 'archetypes' }} variant="filled">
          Go to the archetypes
        </LinkButton>
      }
    >
      Skills are granted to archetypes, which people have by their groups.
    </EmptyState>
  ) : (
    <EmptyState
      title="No skills yet"
      icon={IconSparkles}
      action={
        <LinkButton to="/skills" variant="filled">
          Go to skills and packs
        </LinkButton>
      }
    >
      Skills are registered by applying a pack, or by writing skill_definition records.
    </EmptyState>
  )
}
