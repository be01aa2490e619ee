import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useNow } from '../../ui/use-now.ts'
import { filtersOf } from './breakdown/dimensions.ts'
import type { CommandCenterSearch } from './command-center-search.ts'
import { intervalOf, rangeOf } from './ranges.ts'

const route = getRouteApi('/')

/** What the address says, and how it is changed. */
export function useSearchState() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/' })
  const now = useNow()
  const range = rangeOf(search, now)
  // The same object until a quarter is over: it is in the keys of queries.
  const { from, to, before } = range
  const stable = useMemo(
    () => ({ from, to, before: { from: before.from, to: before.to } }),
    [from, to, before.from, before.to],
  )
  const filters = useMemo(() => filtersOf(search), [search])
  return {
    search,
    filters,
    range: stable,
    /** Its end is the next quarter of an hour, which is nothing to read. */
    lastsUntilNow: to > now,
    interval: intervalOf(stable, search.interval),
    isLive: search.live !== 'off',
    group: search.group_by ?? 'skill',
    /** Replaces parameters of the address; undefined takes one out. */
    change(changes: Partial<CommandCenterSearch>) {
      void navigate({ search: (old) => ({ ...old, ...changes }), resetScroll: false })
    },
    /** Goes to another state altogether. */
    show(query: string, view?: string) {
      void navigate({
        search: { ...Object.fromEntries(new URLSearchParams(query)), ...(view && { view }) } as CommandCenterSearch,
        resetScroll: false,
      })
    },
  }
}

export type SearchState = ReturnType<typeof useSearchState>
