import * as v from 'valibot'
import { dimensions } from './breakdown/dimensions.ts'
import { presets } from './ranges.ts'

/** A text parameter; unknown values are dropped. */
const text = v.optional(v.fallback(v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(512))), undefined))
const oneOf = <const Options extends readonly string[]>(options: Options) =>
  v.optional(v.fallback(v.optional(v.picklist(options)), undefined))
const time = v.optional(
  v.fallback(
    v.optional(
      v.pipe(
        v.string(),
        v.isoTimestamp(),
        v.check((value) => !Number.isNaN(Date.parse(value))),
      ),
    ),
    undefined,
  ),
)
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
export const commandCenterSearch = v.object({
  range: oneOf([...presets, 'custom']),
  /** The custom range, in UTC. */
  from: time,
  to: time,
  /** The interval; automatic if absent. */
  interval: oneOf(['hour', 'day']),
  skill_id: text,
  archetype_id: text,
  user_id: text,
  llm_platform: text,
  llm_model: text,
  group_by: dimension,
  /** The order of the breakdown: descending, unless `order=asc`. */
  sort: oneOf(orders),
  order: oneOf(['asc', 'desc']),
  /** The second dimension, for the table of both. */
  across: dimension,
  measure: oneOf(measures),
  live: oneOf(['off']),
  /** The id of the saved view. */
  view: text,
})

export type CommandCenterSearch = v.InferOutput<typeof commandCenterSearch>
