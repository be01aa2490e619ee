import { useMemo } from 'react'
import { api } from '../../api/api-client.ts'
import { cursorOptions, moreOf } from '../../components/cursor-pagination.ts'
import { type GovernanceEvent, governanceEventOf } from './governance-event.ts'

interface EventsAsked {
  event_kind?: string | undefined
  created_at__gte?: string | undefined
  created_at__lt?: string | undefined
}

/**
 * Returns governance events, newest first, page by page.
 *
 * @param pageSize large if the page searches the events for values that the Hub has no filter for
 */
export function useEvents({ event_kind, created_at__gte, created_at__lt }: EventsAsked, pageSize = 100) {
  const query = api.useInfiniteQuery(
    'get',
    '/api/v1/hub/records',
    {
      params: {
        query: {
          record_type: 'governance_event',
          sort: '-created_at',
          limit: pageSize,
          ...(event_kind && { event_kind }),
          ...(created_at__gte && { created_at__gte }),
          ...(created_at__lt && { created_at__lt }),
        },
      },
    },
    {
      ...cursorOptions,
    },
  )
  const events = useMemo<GovernanceEvent[]>(
    () => query.data?.pages.flatMap(({ records }) => records.map(governanceEventOf)) ?? [],
    [query.data],
  )
  return {
    query,
    events,
    /** The properties that tables take. */
    more: moreOf(query),
  }
}
