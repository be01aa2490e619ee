import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData } from '@tanstack/react-query'
import { searchLengthMax } from '../../contract/limits.ts'
import { recordTypes } from '../../contract/literals.ts'
import { canSee } from '../../contract/record-visibility.ts'
import { type ApiResponse, api } from '../api/api-client.ts'
import type { Me } from '../api/me.ts'

export type FoundRecord = ApiResponse<'searchRecords'>['results'][number]

const pauseMs = 250
const wanted = 5
/** Fewer characters match too much. */
const lengthMin = 2

/** Returns true if the user may see records that the full-text search covers: all but telemetry. */
export function maySearch({ scopes, may }: Pick<Me, 'scopes' | 'may'>): boolean {
  return may('searchRecords') && recordTypes.some((type) => type !== 'telemetry_event' && canSee(scopes, type))
}

/** Returns the best matches of the full-text search for a typed text, after a pause. */
export function useFoundRecords(typed: string, enabled: boolean): { found: FoundRecord[]; isLoading: boolean } {
  const text = typed.trim().slice(0, searchLengthMax)
  const [q] = useDebouncedValue(text, pauseMs)
  const isAsked = enabled && q.length >= lengthMin && text !== ''
  const { data, isFetching } = api.useQuery(
    'get',
    '/api/v1/hub/search',
    { params: { query: { q, limit: wanted } } },
    { enabled: isAsked, staleTime: 60_000, retry: false, placeholderData: keepPreviousData },
  )
  return {
    found: isAsked ? (data?.results ?? []) : [],
    isLoading: enabled && text !== '' && (isFetching || q !== text),
  }
}
