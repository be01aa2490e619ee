import { useMemo } from 'react'
import { governanceKinds } from '../../contract/governance-kinds.ts'
import { api } from '../api/api-client.ts'
import { useMe } from '../api/me.ts'

const quarterHourMs = 900_000
const daysBack = 90
const kept = { staleTime: 10 * 60_000, retry: false } as const

/** Suggestions of the filters: the values of the last 90 days, 1,000 of each. Other values can be typed. */
export interface Suggestions {
  skill_id: readonly string[]
  archetype_id: readonly string[]
  user_id: readonly string[]
  created_by: readonly { value: string; label: string }[]
  event_kind: readonly string[]
}

/** @param enabled true once the user is about to filter */
export function useSuggestions(enabled: boolean): Suggestions {
  const me = useMe()
  const from = useMemo(
    () => new Date(Math.floor(Date.now() / quarterHourMs) * quarterHourMs - daysBack * 86_400_000).toISOString(),
    [],
  )
  const options = { enabled: enabled && me.may('summarizeTelemetry'), ...kept }
  const keysBy = (group_by: 'skill' | 'archetype' | 'user') =>
    // biome-ignore lint/correctness/useHookAtTopLevel: it is called three times, always
    api.useQuery('get', '/api/v1/telemetry/summary', { params: { query: { group_by, from, limit: 1000 } } }, options)
  const [bySkill, byArchetype, byUser] = [keysBy('skill'), keysBy('archetype'), keysBy('user')]
  const skills = api.useQuery(
    'get',
    '/api/v1/skill-entitlement/skills',
    { params: { query: { limit: 1000 } } },
    { enabled: enabled && me.may('listSkills'), ...kept },
  )
  const people = api.useQuery(
    'get',
    '/api/v1/roster/users',
    { params: { query: { limit: 1000 } } },
    { enabled: enabled && me.may('listUsers'), ...kept },
  )
  const accounts = api.useQuery(
    'get',
    '/api/v1/service-accounts',
    { params: { query: { limit: 1000 } } },
    { enabled: enabled && me.may('listServiceAccounts'), ...kept },
  )
  const keys = (rows: readonly { key?: string | null }[] = []) => rows.flatMap(({ key }) => (key ? [key] : []))
  const sorted = (values: readonly string[]) => [...new Set(values)].sort((one, other) => one.localeCompare(other))
  return {
    skill_id: sorted([...keys(bySkill.data?.rows), ...(skills.data?.items.map(({ skill_id }) => skill_id) ?? [])]),
    archetype_id: sorted(keys(byArchetype.data?.rows)),
    user_id: sorted(keys(byUser.data?.rows)),
    created_by: [
      { value: 'service:hub', label: 'The Hub' },
      { value: me.subject, label: 'You' },
      ...(accounts.data?.items.map(({ client_id, name }) => ({ value: client_id, label: name })) ?? []),
      ...(people.data?.items ?? [])
        .filter(({ user_id }) => user_id !== me.subject)
        .map(({ user_id, display_name, email }) => ({ value: user_id, label: display_name ?? email ?? user_id })),
    ],
    event_kind: governanceKinds,
  }
}
