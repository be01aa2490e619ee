import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { filtersOf } from './breakdown/dimensions.ts'
import type { CommandCenterSearch } from './command-center-search.ts'
import { useRange } from './use-range.ts'

const route = getRouteApi('/')

/** Returns the state in the address and functions that change it. */
export function useSearchState() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/' })
  const filters = useMemo(() => filtersOf(search), [search])
  return {
    search,
    filters,
    ...useRange(search),
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
