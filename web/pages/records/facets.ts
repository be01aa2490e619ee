import type { ApiResponse, Query } from '../../api/api-client.ts'
import { activeFilters, type FilterName, filterOf } from './record-query.ts'
import type { RecordsSearch } from './records-search.ts'

export const facets = [
  { name: 'skill_id', group: 'skill', label: 'Skill' },
  { name: 'success', group: undefined, label: 'Result' },
  { name: 'error_code', group: 'error_code', label: 'Error code' },
  { name: 'llm_model', group: 'model', label: 'Model' },
  { name: 'llm_platform', group: 'platform', label: 'Platform' },
] as const

export type Facet = (typeof facets)[number]
type FacetName = Facet['name']

/** The filters that stored sums have. */
const ofSums: ReadonlySet<FilterName> = new Set([
  ...(['record_type', 'skill_id', 'archetype_id', 'user_id', 'llm_platform', 'llm_model'] as const),
  ...(['success', 'error_code', 'created_at__gte', 'created_at__lt', 'within'] as const),
])

const quarterHourMs = 900_000
const valuesShown = 5
/** Days that are counted if the filters name no start. */
export const daysBack = 30

/**
 * Returns the query of the counts beside a list with telemetry events; undefined for other lists, and with filters that
 * stored sums do not have.
 */
export function facetQuery(search: RecordsSearch, now: Date): Query<'summarizeTelemetry'> | undefined {
  if (search.q || (search.record_type ?? 'telemetry_event') !== 'telemetry_event') return undefined
  if (activeFilters(search).some(({ name }) => !ofSums.has(name))) return undefined
  const { created_at__gte, created_at__lt } = filterOf(search, now)
  const to = created_at__lt ? Date.parse(created_at__lt) : now.getTime()
  const from = created_at__gte ? Date.parse(created_at__gte) : to - daysBack * 86_400_000
  const [first, last] = [
    Math.floor(from / quarterHourMs) * quarterHourMs,
    Math.ceil(to / quarterHourMs) * quarterHourMs,
  ]
  if (!(first < last)) return undefined
  const { skill_id, archetype_id, user_id, llm_platform, llm_model, success, error_code } = search
  return {
    from: new Date(first).toISOString(),
    to: new Date(last).toISOString(),
    ...(skill_id && { skill_id }),
    ...(archetype_id && { archetype_id }),
    ...(user_id && { user_id }),
    ...(llm_platform && { llm_platform }),
    ...(llm_model && { llm_model }),
    ...(success && { success: success === 'true' }),
    ...(error_code && { error_code }),
  }
}

export interface FacetValue {
  value: string
  text: string
  count: number
}

/** Returns the most frequent values of a facet with their counts, the most frequent first. */
export function facetValues(name: FacetName, summary: ApiResponse<'summarizeTelemetry'>): FacetValue[] {
  const { rows, totals } = summary
  if (name === 'success') {
    const results = [
      { value: 'true', text: 'Succeeded', count: totals.invocations - totals.failures },
      { value: 'false', text: 'Failed', count: totals.failures },
    ]
    return results.filter(({ count }) => count > 0)
  }
  return rows
    .flatMap(({ key, invocations }) => (key ? [{ value: key, text: key, count: invocations }] : []))
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count)
    .slice(0, valuesShown)
}
