import type * as v from 'valibot'
import { addressSearch, oneOf, text } from '../../components/search-schemas.ts'
import { dimensions } from './breakdown/dimensions.ts'
import { rangeEntries } from './range-entries.ts'

const dimension = oneOf(dimensions.map(({ group }) => group))

/** Columns by which the breakdown can be sorted. */
export const orders = [
  'key',
  'invocations',
  'failure_rate',
  'latency_p95',
  'cost_computed',
  'cost_estimate',
  'tokens',
] as const

export const measures = ['invocations', 'failure_rate', 'latency_p95', 'cost_computed'] as const

/** The state of the command center in its address. */
export const commandCenterSearch = addressSearch({
  ...rangeEntries,
  skill_id: text(512),
  archetype_id: text(512),
  user_id: text(512),
  llm_platform: text(512),
  llm_model: text(512),
  group_by: dimension,
  /** The order of the breakdown: descending, unless `order=asc`. */
  sort: oneOf(orders),
  order: oneOf(['asc', 'desc']),
  /** The second dimension, for the table of both. */
  across: dimension,
  measure: oneOf(measures),
  /** The division of the cost chart. */
  split: oneOf(['model', 'skill']),
  live: oneOf(['off']),
  /** The id of the saved view. */
  view: text(512),
})

export type CommandCenterSearch = v.InferOutput<typeof commandCenterSearch>
