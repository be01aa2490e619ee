import { useMemo } from 'react'
import { useNow } from '../../ui/use-now.ts'
import type { CommandCenterSearch } from './command-center-search.ts'
import { intervalOf, rangeOf } from './ranges.ts'

/** The members of an address that select the range. */
export type RangeState = Pick<CommandCenterSearch, 'range' | 'from' | 'to' | 'compare_from' | 'compare_to' | 'interval'>

/** Returns the range and the interval that an address selects, relative to the current time. */
export function useRange(search: RangeState) {
  const now = useNow()
  const { from, to, before } = rangeOf(search, now)
  // Keeps the same object within a quarter, because query keys contain it.
  const range = useMemo(
    () => ({ from, to, before: { from: before.from, to: before.to } }),
    [from, to, before.from, before.to],
  )
  return {
    range,
    /** The range ends at the next quarter of an hour, which is irrelevant to people. */
    lastsUntilNow: to > now,
    interval: intervalOf(range, search.interval),
  }
}
