/** As `api.useInfiniteQuery` reads a list of the Hub page by page. */
export const cursorOptions = {
  pageParamName: 'cursor',
  initialPageParam: null,
  getNextPageParam: ({ next_cursor }: { next_cursor: string | null }) => next_cursor,
  // Every page that was loaded would be read anew.
  refetchOnWindowFocus: hasOnePage,
} as const

/** Whether no more than the first page of a list was read. */
export function hasOnePage({ state: { data } }: { state: { data?: unknown } }): boolean {
  return data === undefined || (data as { pages: unknown[] }).pages.length === 1
}

interface PagedQuery {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  isFetchNextPageError: boolean
  fetchNextPage(): unknown
}

/** What a table takes to show the pages behind those that were read. */
export function moreOf(query: PagedQuery) {
  return {
    available: query.hasNextPage,
    loading: query.isFetchingNextPage,
    failed: query.isFetchNextPageError,
    load: () => void query.fetchNextPage(),
  }
}
