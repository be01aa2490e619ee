import { useMemo } from 'react'
import { useMetricsByKey } from '../use-metrics.ts'
import type { SearchState } from '../use-search-state.ts'
import { breakdownRows, order } from './breakdown-rows.tsx'

/** Returns the metrics of each key of a dimension, in the order of the address. */
export function useBreakdown({ search, filters, range, group, isLive }: SearchState, enabled: boolean) {
  const asked = { filters, group }
  const now = useMetricsByKey({ ...asked, span: range, live: isLive && enabled, enabled })
  const before = useMetricsByKey({ ...asked, span: range.before, enabled: enabled && now.isSuccess })
  const id = search.sort ?? 'invocations'
  const desc = search.order ? search.order === 'desc' : search.sort !== 'key'
  const rows = useMemo(
    () => now.data && order(breakdownRows(group, now.data, before.data), id, desc),
    [now.data, before.data, group, id, desc],
  )
  return { now, rows, sort: { id, desc } }
}
