import { useQueries } from '@tanstack/react-query'
import { isoOf, type Span } from '../ranges.ts'
import { type Keys, type Row, readKeys, rowsPerPage, useMetricsByKey } from '../use-metrics.ts'
import { dimensionOf, type Filters, type Group } from './dimensions.ts'

/** Maximum number of keys per dimension, those with the most invocations: each row takes a call. */
export const pivotKeys = 12

export interface PivotRow {
  key: string
  /** Cells by the keys of the second dimension; undefined while loading. */
  cells: Map<string | undefined, Row> | undefined
}

interface Asked {
  group: Group
  /** The second dimension; nothing is requested without it. */
  across: Group | undefined
  span: Span
  filters: Filters
}

/** Returns the metrics of two dimensions, in at most 2 + {@link pivotKeys} calls. Does not poll. */
export function usePivot({ group, across = group, span, filters }: Asked) {
  const enabled = across !== group
  const rows = useMetricsByKey({ group, span, filters, enabled })
  const columns = useMetricsByKey({ group: across, span, filters, enabled })
  const keys = enabled ? busiest(rows.data) : []
  const cells = useQueries({
    queries: keys.map((key) => {
      const narrowed = { ...filters, [dimensionOf(group).field]: key }
      const query = { from: isoOf(span.from), to: isoOf(span.to), ...narrowed, group_by: across, limit: rowsPerPage }
      return {
        queryKey: ['figures by key', query],
        queryFn: ({ signal }: { signal: AbortSignal }) => readKeys(query, signal),
        staleTime: 60_000,
      }
    }),
  })
  const failed = cells.find(({ error }) => error)
  return {
    rows,
    columns,
    failed,
    columnKeys: busiest(columns.data),
    crossRows: keys.map((key, index): PivotRow => {
      const data = cells[index]?.data
      return { key, cells: data && new Map(data.rows.map((row) => [row.key, row])) }
    }),
  }
}

function busiest(keys: Keys | undefined): string[] {
  return (keys?.rows ?? [])
    .toSorted((one, other) => other.invocations - one.invocations)
    .flatMap(({ key }) => (key === undefined ? [] : [key]))
    .slice(0, pivotKeys)
}
