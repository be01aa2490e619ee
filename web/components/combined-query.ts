import type { UseQueryResult } from '@tanstack/react-query'
import type { LoadableQuery } from './query-boundary.tsx'

type Queries = readonly UseQueryResult<unknown, unknown>[]
type DataOf<All extends Queries> = {
  -readonly [At in keyof All]: All[At] extends UseQueryResult<infer Data, unknown> ? Data : never
}

/**
 * Combines queries that a page shows as one: data exists once all have data, one failed query fails all, and a retry
 * repeats every failed one.
 */
export function combineQueries<const All extends Queries>(...all: All): LoadableQuery<DataOf<All>> {
  const failed = all.find(({ error }) => error) ?? all.find(({ failureReason }) => failureReason)
  return {
    data: all.every(({ data }) => data !== undefined) ? (all.map(({ data }) => data) as DataOf<All>) : undefined,
    error: failed?.error ?? null,
    failureReason: failed?.failureReason ?? null,
    fetchStatus: all.find(({ fetchStatus }) => fetchStatus !== 'idle')?.fetchStatus ?? 'idle',
    dataUpdatedAt: Math.min(...all.map(({ dataUpdatedAt }) => dataUpdatedAt)),
    refetch: () => Promise.all(all.filter(({ error }) => error).map((query) => query.refetch())),
  }
}
