import type { Dimension } from '../rollups/rollup-types.ts'

export const intervals = ['hour', 'day'] as const
export type Interval = (typeof intervals)[number]

/** Maps the groupings of rows to their columns. */
export const groupings = {
  skill: 'skill_id',
  archetype: 'archetype_id',
  user: 'user_id',
  platform: 'llm_platform',
  model: 'llm_model',
  error_code: 'error_code',
} as const satisfies Record<string, Dimension>
export type Grouping = keyof typeof groupings

/** Quarters of an hour since 1970: first ≤ quarter < end. */
export interface QuarterRange {
  first: number
  end: number
}

/** The value that events must have, or a set of allowed values. */
export type Filters = Readonly<Partial<Record<Dimension, string | ReadonlySet<string>>>>

/** Selects the events to count, and their rows. */
export interface SummaryRequest {
  range: QuarterRange
  /** The quarters with which the intervals begin, ascending, the first one that of the range. */
  starts: readonly number[]
  groupBy: Dimension | undefined
  filters: Filters
  /** Counts only events that succeeded, or that failed. */
  success?: boolean | undefined
}

/** Returns whether a request needs events divided by error code. Grouping by it counts failed events only. */
export function dividesByError({ groupBy, filters, success }: Pick<SummaryRequest, 'groupBy' | 'filters' | 'success'>) {
  return success !== undefined || groupBy === 'error_code' || filters.error_code !== undefined
}

/** The position of a row. `key` is empty for events without a value, and without grouping. */
export interface RowPosition {
  start: number
  key: string
}
