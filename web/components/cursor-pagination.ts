/** Options with which `api.useInfiniteQuery` reads a list of the Hub page by page. */
export const cursorOptions = {
  pageParamName: 'cursor',
  initialPageParam: null,
  getNextPageParam: ({ next_cursor }: { next_cursor: string | null }) => next_cursor,
  // A refetch would read every loaded page again.
  refetchOnWindowFocus: hasOnePage,
} as const

/** Returns true if only the first page of a list is loaded. */
export function hasOnePage({ state: { data } }: { state: { data?: unknown } }): boolean {
  return data === undefined || (data as { pages: unknown[] }).pages.length === 1
}

interface PagedQuery {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  isFetchNextPageError: boolean
  fetchNextPage(): unknown
}

/** Returns the properties with which a table loads further pages. */
export function moreOf(query: PagedQuery) {
  return {
    available: query.hasNextPage,
    loading: query.isFetchingNextPage,
    failed: query.isFetchNextPageError,
    load: () => void query.fetchNextPage(),
  }
}
