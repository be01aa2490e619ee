import { useQuery } from '@tanstack/react-query'
import { type ApiResponse, api, hub, type Query } from '../../api/api-client.ts'
import { pollEvery } from '../../components/polling.ts'
import type { Filters, Group } from './breakdown/dimensions.ts'
import { type Interval, intervalOf, isoOf, quarterHourMs, type Range, type Span } from './ranges.ts'

export type Totals = ApiResponse<'summarizeTelemetry'>['totals']
/** A row of an hour or a day. */
export type TimeRow = Omit<ApiResponse<'summarizeTelemetry'>['rows'][number], 'key'>
/** A row of a key; without `key` for events that have no value of the dimension. */
export type Row = TimeRow & { key?: string }

/** Maximum number of rows per response. */
export const rowsPerPage = 1000
/** Maximum number of pages of keys. Beyond that a breakdown contains the first ones by name, and says so. */
const pagesMax = 5
const refreshMs = 5000

/** The user's time zone, which defines the days. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

interface Asked {
  span: Span
  filters: Filters
  /** Polls every few seconds while the page is visible. */
  live?: boolean
  /** Says that the range is over, so that its figures hardly change. */
  isOver?: boolean
  enabled?: boolean
}

const rangeQuery = ({ span, filters }: Asked) => ({ from: isoOf(span.from), to: isoOf(span.to), ...filters })
const refresh = ({ live = false }: Asked) => pollEvery(refreshMs, live)

/** Returns totals and rows by hours or days, in one call. */
export function useMetricsOverTime({ interval, ...asked }: Asked & { interval: Interval }) {
  const query = { ...rangeQuery(asked), interval, time_zone: timeZone, limit: rowsPerPage }
  return api.useQuery(
    'get',
    '/api/v1/telemetry/summary',
    { params: { query } },
    { placeholderData: keptWhile(query), ...(asked.isOver && { staleTime: 60_000 }), ...refresh(asked) },
  )
}

const noRows: readonly TimeRow[] = []

/**
 * Returns the metrics of the previous period, and its rows for comparison: none if its hours do not fit into one
 * response.
 */
export function useMetricsBefore({ range, interval, filters }: { range: Range; interval: Interval; filters: Filters }) {
  const span = range.before
  const fitting = intervalOf(span, interval)
  const before = useMetricsOverTime({ span, filters, interval: fitting, isOver: true })
  return { before, rowsBefore: fitting === interval ? (before.data?.rows ?? noRows) : noRows }
}

/**
 * Keeps the previous data while the same query loads for a range that moved with the clock. Data of another range or
 * filter would be wrong here.
 */
function keptWhile(query: Query<'summarizeTelemetry'>) {
  return <Data>(previous: Data | undefined, { queryKey = [] }: { queryKey?: readonly unknown[] } = {}) => {
    const asked = queryKey.at(-1) as { params?: { query: Query<'summarizeTelemetry'> } } & Query<'summarizeTelemetry'>
    return asked && hasMovedOn(asked.params?.query ?? asked, query) ? previous : undefined
  }
}

function hasMovedOn(one: Query<'summarizeTelemetry'>, other: Query<'summarizeTelemetry'>): boolean {
  const rest = ({ from: _from, to: _to, ...query }: Query<'summarizeTelemetry'>) => JSON.stringify(query)
  const distance = (name: 'from' | 'to') => Math.abs(Date.parse(one[name] ?? '') - Date.parse(other[name] ?? ''))
  return rest(one) === rest(other) && distance('from') <= 86_400_000 && distance('to') <= 2 * quarterHourMs
}

export interface Keys {
  rows: Row[]
  totals: Totals
  /** True if these are all keys. */
  complete: boolean
}

/** Returns a row for each key of a dimension. */
export function useMetricsByKey({ group, ...asked }: Asked & { group: Group }) {
  const query: Query<'summarizeTelemetry'> = { ...rangeQuery(asked), group_by: group, limit: rowsPerPage }
  return useQuery({
    queryKey: ['figures by key', query],
    queryFn: ({ signal }) => readKeys(query, signal),
    placeholderData: keptWhile(query),
    enabled: asked.enabled ?? true,
    ...refresh(asked),
  })
}

/** Reads all pages: rows come in the order of keys, and sorting by a metric needs all of them. */
export async function readKeys(query: Query<'summarizeTelemetry'>, signal: AbortSignal): Promise<Keys> {
  const rows: Row[] = []
  let cursor: string | undefined
  for (let page = 1; ; page += 1) {
    const params = { query: { ...query, ...(cursor && { cursor }) } }
    const { data } = await hub.GET('/api/v1/telemetry/summary', { params, signal })
    if (!data) throw new Error('The Hub answered without figures.')
    rows.push(...data.rows.map(({ key, ...row }) => (key == null ? row : { ...row, key })))
    cursor = data.next_cursor ?? undefined
    if (!cursor || page === pagesMax) return { rows, totals: data.totals, complete: !cursor }
  }
}
