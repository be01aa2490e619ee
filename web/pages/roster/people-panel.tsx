import { Button, Stack, Text } from '@mantine/core'
import { IconUsers } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api, type Query } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { cursorOptions, moreOf } from '../../components/cursor-pagination.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { personRow } from '../../components/person-cell.tsx'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatCount } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { PeopleFilters } from './people-filters.tsx'
import { type Person, peopleColumns } from './people-table.tsx'
import { PersonDrawer } from './person-drawer.tsx'
import type { RosterSearch } from './roster-search.ts'

const route = getRouteApi('/skills/roster')
const path = '/api/v1/roster/users'
const pageSize = 200

function queryOf({ role, active, search, group, archetype }: RosterSearch): Query<'listUsers'> {
  return {
    limit: pageSize,
    active: active === 'all' ? undefined : active !== 'no',
    role,
    search,
    group_id: group,
    archetype_id: archetype,
  }
}

function usePages(search: RosterSearch, matched: boolean, enabled: boolean) {
  const pages = api.useInfiniteQuery(
    'get',
    path,
    { params: { query: { ...queryOf(search), matched } } },
    { ...cursorOptions, enabled },
  )
  return { pages, rows: (enabled && pages.data?.pages.flatMap(({ items }) => items)) || [] }
}

/**
 * Reads people page by page, those without an archetype first: they may use no skill and keep the tenant from being
 * live.
 */
function usePeople(search: RosterSearch) {
  const withUnmatched = search.matched !== 'yes' && !search.archetype
  const unmatched = usePages(search, false, withUnmatched)
  const unmatchedEnd = !withUnmatched || (unmatched.pages.isSuccess && !unmatched.pages.hasNextPage)
  const matched = usePages(search, true, search.matched !== 'no' && unmatchedEnd)
  const rows: Person[] = [...unmatched.rows, ...matched.rows]
  return {
    rows,
    leading: withUnmatched ? unmatched.pages : matched.pages,
    growing: unmatchedEnd && search.matched !== 'no' ? matched.pages : unmatched.pages,
    isWaiting: matched.pages.isLoading,
  }
}

export function PeoplePanel() {
  const me = useMe()
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/skills/roster' })
  const { rows, leading, growing, isWaiting } = usePeople(search)
  const health = api.useQuery('get', '/api/v1/observability/tenant-health')
  const unmatched = health.data?.checks.roster.unmatched ?? 0
  const filtered = Boolean(search.search || search.group || search.archetype || search.role || search.active)
  // Waits for the notice above the list, so that nothing moves.
  if (health.isLoading && !health.failureReason) return <SkeletonLines lines={8} />
  return (
    <>
      {unmatched > 0 && (
        <Stack mb="sm">
          <Notice
            kind="warning"
            title={`${formatCount(unmatched)} ${unmatched === 1 ? 'person has' : 'people have'} no archetype`}
            actions={
              me.may('configureScim') && (
                <LinkButton to="/settings/directory" size="xs">
                  Map their groups
                </LinkButton>
              )
            }
          >
            <Text size="sm">
              They may use no skill, and the tenant is not live before each active person has one. They come first in
              the list.
            </Text>
          </Notice>
        </Stack>
      )}
      {health.data?.checks.roster.users === 0 && me.may('configureScim') && (
        <Stack mb="sm">
          <Notice
            kind="info"
            title="Nobody came from the directory yet"
            actions={
              <LinkButton to="/settings/directory" size="xs" variant="filled">
                Connect the directory
              </LinkButton>
            }
          >
            People who are added manually count for the checklist once they have an archetype.
          </Notice>
        </Stack>
      )}
      <PeopleFilters
        search={search}
        onChange={(next) => void navigate({ search: { ...next, user: undefined }, replace: true })}
      />
      <QueryBoundary query={leading} what="people">
        {() =>
          rows.length === 0 && !isWaiting ? (
            <EmptyState
              icon={IconUsers}
              title={filtered || search.matched ? 'Nobody fits these filters' : 'Nobody is here yet'}
              action={
                filtered || search.matched ? (
                  <Button variant="default" onClick={() => void navigate({ search: {} })}>
                    Clear the filters
                  </Button>
                ) : (
                  me.may('configureScim') && (
                    <LinkButton to="/settings/directory" variant="filled">
                      Connect the directory
                    </LinkButton>
                  )
                )
              }
            >
              {filtered || search.matched
                ? 'Fewer of them show more people.'
                : 'People come from the directory, by their first sign-in, or are added in People and roles.'}
            </EmptyState>
          ) : (
            <DataTable
              label="People"
              rows={rows}
              columns={peopleColumns}
              rowId={(person) => person.user_id}
              rowHeight={personRow}
              openId={search.user}
              onOpen={(person) => void navigate({ search: (before) => ({ ...before, user: person.user_id }) })}
              more={{ ...moreOf(growing), loading: growing.isFetchingNextPage || isWaiting }}
            />
          )
        }
      </QueryBoundary>
      <PersonDrawer
        userId={search.user}
        onClose={() => void navigate({ search: (before) => ({ ...before, user: undefined }) })}
      />
    </>
  )
}
