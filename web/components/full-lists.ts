import { useQuery } from '@tanstack/react-query'
import { type ApiResponse, hub } from '../api/api-client.ts'

export type Archetype = ApiResponse<'listArchetypes'>['items'][number]
export type Skill = ApiResponse<'listSkills'>['items'][number]
export type Grant = ApiResponse<'listGrants'>['items'][number]

interface Page<Item> {
  items: Item[]
  next_cursor: string | null
}

const limit = 1000

async function everyPage<Item>(read: (cursor?: string) => Promise<{ data?: Page<Item> | undefined }>): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | undefined
  do {
    const { data } = await read(cursor)
    items.push(...(data?.items ?? []))
    cursor = data?.next_cursor ?? undefined
  } while (cursor !== undefined)
  return items
}

/** The first page has no cursor. */
const pageAt = (cursor: string | undefined) => ({ limit, ...(cursor !== undefined && { cursor }) })

export const archetypesPath = '/api/v1/roster/archetypes'
export const skillsPath = '/api/v1/skill-entitlement/skills'
export const grantsPath = '/api/v1/skill-entitlement/grants'

/** Reads the whole bundle again. */
export const readArchetypes = (signal?: AbortSignal) =>
  everyPage((cursor) => hub.GET(archetypesPath, { params: { query: pageAt(cursor) }, signal: signal ?? null }))

/**
 * Reads all archetypes of the tenant, for choices and the matrix. Its query keys start like those of the single pages.
 */
export function useArchetypes(options: { enabled?: boolean } = {}) {
  return useQuery({
    queryKey: ['get', archetypesPath, 'whole'],
    queryFn: ({ signal }) => readArchetypes(signal),
    ...options,
  })
}

/** Reads all registered skills with their versions and states. */
export function useSkills(options: { enabled?: boolean; staleTime?: number } = {}) {
  return useQuery({
    queryKey: ['get', skillsPath, 'whole'],
    queryFn: ({ signal }) => everyPage((cursor) => hub.GET(skillsPath, { params: { query: pageAt(cursor) }, signal })),
    ...options,
  })
}

/** Reads all grants, or those of an archetype or a skill. */
export function useGrants(of: { archetype_id?: string; skill_id?: string } = {}) {
  return useQuery({
    queryKey: ['get', grantsPath, 'whole', of],
    queryFn: ({ signal }) =>
      everyPage((cursor) => hub.GET(grantsPath, { params: { query: { ...pageAt(cursor), ...of } }, signal })),
  })
}

/** Returns an archetype as an option, with its name if it has one. */
export const archetypeChoice = ({ archetype_id, name }: Archetype) => ({
  value: archetype_id,
  label: name && name !== archetype_id ? `${name} (${archetype_id})` : archetype_id,
})
