import { matchesFilter, normaliseFilter } from '../../../contract/record-filter.ts'
import type { JsonObject } from '../../../provenance/index.ts'
import type { Query } from '../../api/api-client.ts'
import type { RecordsSearch } from './records-search.ts'

/** The default order: newest first. */
export const usualSort = '-created_at'

/** The filters by members of telemetry events, which the search and the form of exports do not have. */
const eventFilters = [
  ...(['llm_platform', 'llm_model', 'success', 'error_code', 'latency_ms__gte', 'latency_ms__lte'] as const),
  ...(['cost_usd__gte', 'cost_usd__lte', 'session_id', 'trace_id'] as const),
] as const

const filters = [
  ...(['record_type', 'record_id', 'skill_id', 'archetype_id', 'user_id', 'created_by'] as const),
  ...(['event_kind', 'created_at__gte', 'created_at__lt', 'within', 'include_purged'] as const),
  ...eventFilters,
] as const
export type FilterName = (typeof filters)[number]

/** Returns the active filters, in display order. */
export function activeFilters(search: RecordsSearch): { name: FilterName; value: string }[] {
  return filters.flatMap((name) => (search[name] === undefined ? [] : [{ name, value: search[name] }]))
}

/** Returns the state without its filters; the open record and the order stay. */
export function withoutFilters(search: RecordsSearch): RecordsSearch {
  return { ...search, ...Object.fromEntries(filters.map((name) => [name, undefined])) }
}

const dayMs = 86_400_000

/** Returns the start of a relative range. `week` is the current week, from Monday in the user's time zone. */
function beginOf(range: NonNullable<RecordsSearch['within']>, now: Date): Date {
  if (range !== 'week') return new Date(now.getTime() - { '24h': 1, '7d': 7, '30d': 30, '90d': 90 }[range] * dayMs)
  const monday = new Date(now.getFullYear(), now.getMonth(), now.getDate())
  monday.setDate(monday.getDate() - ((monday.getDay() + 6) % 7))
  return monday
}

/** Returns the conditions of the search in the API's form. */
export function filterOf(search: RecordsSearch, now: Date) {
  const { record_type, record_id, skill_id, archetype_id, user_id, created_by, event_kind } = search
  const { within, created_at__lt } = search
  const created_at__gte = within ? beginOf(within, now).toISOString() : search.created_at__gte
  const all = { record_type, record_id, skill_id, archetype_id, user_id, created_by, event_kind }
  return { ...all, created_at__gte, created_at__lt: within ? undefined : created_at__lt }
}

/** Returns true if a filter by a member of telemetry events is set. */
export function hasEventFilter(search: RecordsSearch): boolean {
  return eventFilters.some((name) => search[name] !== undefined)
}

/** Returns the filters by members of telemetry events in the API's form. */
function eventFilterOf(search: RecordsSearch) {
  const { llm_platform, llm_model, success, error_code, session_id, trace_id } = search
  const number = (value: string | undefined) => (value === undefined ? undefined : Number(value))
  return withoutUnset({
    ...{ llm_platform, llm_model, error_code, session_id, trace_id },
    success: success === undefined ? undefined : success === 'true',
    latency_ms__gte: number(search.latency_ms__gte),
    latency_ms__lte: number(search.latency_ms__lte),
    cost_usd__gte: number(search.cost_usd__gte),
    cost_usd__lte: number(search.cost_usd__lte),
  })
}

/** @param now when the table was read, so that all its pages belong to one query */
export function queryOf(search: RecordsSearch, now: Date): Query<'queryRecords'> {
  return {
    ...withoutUnset(filterOf(search, now)),
    ...eventFilterOf(search),
    sort: search.sort ?? usualSort,
    limit: 100,
    ...(search.include_purged && { include_purged: true }),
    ...(search.verify && { verify: true }),
  }
}

/** The filters that a full-text search takes. */
const filtersOfSearch: ReadonlySet<FilterName> = new Set([
  ...(['record_type', 'skill_id', 'created_at__gte', 'created_at__lt', 'within', 'include_purged'] as const),
])

/** Returns true if a filter applies to a full-text search, too. */
export function isOfSearch(name: FilterName): boolean {
  return filtersOfSearch.has(name)
}

/** Returns the query of a full-text search. */
export function searchQueryOf(search: RecordsSearch & { q: string }, now: Date): Query<'searchRecords'> {
  const { record_type, skill_id, created_at__gte, created_at__lt } = filterOf(search, now)
  return {
    ...withoutUnset({ record_type, skill_id, created_at__gte }),
    // The search includes its end, and times have microseconds.
    ...(created_at__lt && { created_at__lte: momentBefore(created_at__lt) }),
    q: search.q,
    ...(search.include_purged && { include_purged: true }),
  }
}

/** Returns the parameters of the exports page for the results of a search. Exports have no purged records. */
export function exportOf({ q, record_type, skill_id, created_at__gte, created_at__lte }: Query<'searchRecords'>) {
  return {
    create: '1',
    ...withoutUnset({ q, record_type, skill_id, created_at__gte }),
    ...(created_at__lte && { created_at__lt: momentAfter(created_at__lte) }),
  }
}

/** Reverts {@link momentBefore}. */
function momentAfter(iso: string): string {
  return new Date(new Date(iso).getTime() + 1).toISOString()
}

function momentBefore(iso: string): string {
  return new Date(new Date(iso).getTime() - 1).toISOString().replace('Z', '999Z')
}

/**
 * Returns a check that a record matches the filters by its own content. The Hub finds records by columns beside the
 * signed text: if somebody edited those, it returns records that do not match.
 */
export function fitsSearch(search: RecordsSearch, now: Date): (record: JsonObject) => boolean {
  const { record_type, ...rest } = withoutUnset(filterOf(search, now))
  const filter = normaliseFilter({ ...rest, ...(record_type && { record_type: [record_type] }) }, '')
  return (record) =>
    matchesFilter(filter, record as unknown as Parameters<typeof matchesFilter>[1], String(record.created_at)) &&
    fitsEventFilter(search, record)
}

function fitsEventFilter(search: RecordsSearch, record: JsonObject): boolean {
  const { latency_ms__gte, latency_ms__lte, cost_usd__gte, cost_usd__lte, ...exact } = eventFilterOf(search)
  const isIn = (value: unknown, least: number | undefined, most: number | undefined) =>
    (least === undefined || Number(value) >= least) && (most === undefined || Number(value) <= most)
  return (
    Object.entries(exact).every(([name, value]) => record[name] === value) &&
    isIn(record.latency_ms, latency_ms__gte, latency_ms__lte) &&
    isIn(record.cost_usd_computed ?? record.cost_usd_estimate, cost_usd__gte, cost_usd__lte)
  )
}

/** Returns the query for `curl`, and for links to other pages. */
export function parametersOf(search: RecordsSearch, now: Date): URLSearchParams {
  return new URLSearchParams(withoutUnset(filterOf(search, now)) as Record<string, string>)
}

function withoutUnset<Members extends object>(members: Members) {
  const set = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(set) as { [Name in keyof Members]?: NonNullable<Members[Name]> }
}
