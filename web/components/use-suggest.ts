import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData } from '@tanstack/react-query'
import { useMemo } from 'react'
import { searchLengthMax } from '../../contract/limits.ts'
import { api, type Query } from '../api/api-client.ts'
import { useMe } from '../api/me.ts'
import { filterValueOf, type Suggested, type Suggestion } from './suggestion.ts'

export type SuggestionKind = NonNullable<Query<'suggest'>['kind']>

const pauseMs = 200
const keptMs = 60_000

/**
 * Returns the Hub's suggestions for a typed text, after a pause; none for an empty text or after an error. Those of the
 * previous text stay until the next arrive.
 *
 * @param kind one kind only; all kinds if absent
 */
export function useSuggest(typed: string, kind?: SuggestionKind, enabled = true): Suggestion[] {
  const me = useMe()
  const [q] = useDebouncedValue(typed.trim().slice(0, searchLengthMax), pauseMs)
  const isAsked = enabled && q !== '' && typed.trim() !== '' && me.may('suggest')
  const { data } = api.useQuery(
    'get',
    '/api/v1/suggest',
    { params: { query: { q, ...(kind && { kind }) } } },
    { enabled: isAsked, staleTime: keptMs, retry: false, placeholderData: keepPreviousData },
  )
  return isAsked ? (data?.items ?? []) : []
}

/** A choice of a filter. */
export type Option = string | { value: string; label: string }

const kinds: Readonly<Record<Suggested, SuggestionKind | undefined>> = {
  skill_id: 'skill',
  archetype_id: 'archetype',
  user_id: 'person',
  created_by: 'person',
  llm_model: 'model',
  subject: undefined,
}

/**
 * Returns the choices of a filter: the given ones and the Hub's suggestions for the typed text.
 *
 * @param suggested the filter; undefined while its field is not edited
 */
export function useSuggestedOptions(typed: string, given: readonly Option[], suggested: Suggested | undefined) {
  const found = useSuggest(typed, suggested && kinds[suggested], suggested !== undefined)
  return useMemo(() => {
    if (suggested === undefined) return [...given]
    const known = new Set(given.map((option) => (typeof option === 'string' ? option : option.value)))
    const more = found.flatMap((suggestion) => {
      const value = filterValueOf(suggestion, suggested)
      if (value === undefined || known.has(value)) return []
      known.add(value)
      // The field shows choices whose label contains the typed text, which may be part of either.
      return [{ value, label: suggestion.label === value ? value : `${suggestion.label} · ${value}` }]
    })
    return [...given, ...more]
  }, [found, given, suggested])
}
