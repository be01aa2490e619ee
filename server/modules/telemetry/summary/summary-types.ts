import type { Dimension } from '../rollups/rollup-types.ts'

export const intervals = ['hour', 'day'] as const
export type Interval = (typeof intervals)[number]

/** What rows may be grouped by, and where it is found. */
export const groupings = {
  skill: 'skill_id',
  archetype: 'archetype_id',
  user: 'user_id',
  platform: 'llm_platform',
  model: 'llm_model',
} as const satisfies Record<string, Dimension>
export type Grouping = keyof typeof groupings

/** Quarters of an hour since 1970: first ≤ quarter < end. */
export interface QuarterRange {
  first: number
  end: number
}

/** The value that events must have, or any of some. */
export type Filters = Readonly<Partial<Record<Dimension, string | ReadonlySet<string>>>>

/** Which events are counted, and in which rows. */
export interface SummaryRequest {
  range: QuarterRange
  /** The quarters that the intervals begin with, ascending, the first one that of the range. */
  starts: readonly number[]
  groupBy: Dimension | undefined
  filters: Filters
}

/** The place of a row among all. `key` is empty for events without a value, and where nothing is grouped by. */
export interface RowPosition {
  start: number
  key: string
}
