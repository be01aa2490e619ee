import { useQuery } from '@tanstack/react-query'
import { type ApiResponse, hub, type Query } from '../../api/api-client.ts'
import type { Filters } from './breakdown/dimensions.ts'
import { aheadMs, isoOf, type Span } from './ranges.ts'

export type CostException = ApiResponse<'listCostExceptions'>['items'][number]

/** Maximum number of pages of 1,000 that are read. The Hub lists exceptions by storage time, the oldest first. */
const pagesMax = 4

export interface Exceptions {
  /** Exceptions whose events happened in the range. */
  items: CostException[]
  /** True if the list is complete. */
  complete: boolean
}

/**
 * Returns the events of a range without a price, or with two costs that differ. Events may be stored long after they
 * happened, so this searches everything stored since the range began, up to {@link pagesMax} pages.
 */
export function useExceptions(span: Span, filters: Filters) {
  const { from, to } = span
  return useQuery({
    queryKey: ['cost exceptions', from, to, filters],
    queryFn: ({ signal }) => readExceptions(span, filters, signal),
    staleTime: 60_000,
  })
}

async function readExceptions(span: Span, filters: Filters, signal: AbortSignal): Promise<Exceptions> {
  const query: Query<'listCostExceptions'> = {
    created_at__gte: isoOf(span.from - aheadMs),
    limit: 1000,
    ...filters,
  }
  const items: CostException[] = []
  let cursor: string | undefined
  for (let page = 1; ; page += 1) {
    const params = { query: { ...query, ...(cursor && { cursor }) } }
    const { data } = await hub.GET('/api/v1/telemetry/reconciliation/exceptions', { params, signal })
    if (!data) throw new Error('The Hub answered without cost exceptions.')
    items.push(...happenedIn(data.items, span))
    cursor = data.next_cursor ?? undefined
    if (!cursor || page === pagesMax) return { items, complete: !cursor }
  }
}

function happenedIn(events: readonly CostException[], { from, to }: Span): CostException[] {
  return events.filter(({ ts }) => Date.parse(ts) >= from && Date.parse(ts) < to)
}
