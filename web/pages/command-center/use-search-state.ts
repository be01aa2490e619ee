import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useNow } from '../../ui/use-now.ts'
import { filtersOf } from './breakdown/dimensions.ts'
import type { CommandCenterSearch } from './command-center-search.ts'
import { intervalOf, rangeOf } from './ranges.ts'

const route = getRouteApi('/')

/** Returns the state in the address and functions that change it. */
export function useSearchState() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/' })
  const now = useNow()
  const range = rangeOf(search, now)
  // Keeps the same object within a quarter, because query keys contain it.
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
    /** The range ends at the next quarter of an hour, which is irrelevant to people. */
    lastsUntilNow: to > now,
    interval: intervalOf(stable, search.interval),
    isLive: search.live !== 'off',
    group: search.group_by ?? 'skill',
    /** Replaces parameters of the address; undefined removes one. */
    change(changes: Partial<CommandCenterSearch>) {
      void navigate({ search: (old) => ({ ...old, ...changes }), resetScroll: false })
    },
    /** Shows another state. */
    show(query: string, view?: string) {
      void navigate({
        search: { ...Object.fromEntries(new URLSearchParams(query)), ...(view && { view }) } as CommandCenterSearch,
        resetScroll: false,
      })
    },
  }
}

export type SearchState = ReturnType<typeof useSearchState>
