import * as v from 'valibot'
import { searchLengthMax } from '../../../contract/limits.ts'
import { patterns, recordTypes } from '../../../contract/literals.ts'
import { parseTimestamp } from '../../../contract/timestamp.ts'

/** Wraps the schema of an address parameter; unknown values are dropped. */
const known = <Schema extends v.GenericSchema<string, string>>(schema: Schema) =>
  v.optional(v.fallback(v.optional(schema), undefined))

const text = known(v.pipe(v.string(), v.minLength(1), v.maxLength(300)))
const id = known(v.pipe(v.string(), v.regex(new RegExp(patterns.uuid))))
const time = known(
  v.pipe(
    v.string(),
    v.check((given) => parseTimestamp(given) !== undefined),
  ),
)
const yes = known(v.literal('true'))
const number = known(v.pipe(v.string(), v.regex(/^\d{1,12}(\.\d{1,6})?$/)))
const wholeNumber = known(v.pipe(v.string(), v.regex(/^\d{1,9}$/)))

/** Ranges relative to the current time, so that a link or a saved view stays useful. */
export const ranges = ['24h', '7d', 'week', '30d', '90d'] as const
export const sorts = ['created_at', '-created_at', 'cost_usd_estimate', '-cost_usd_estimate'] as const

const understood = v.object({
  /** The words of a full-text search. */
  q: known(v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(searchLengthMax))),
  record_type: known(v.picklist(recordTypes)),
  record_id: id,
  skill_id: text,
  archetype_id: text,
  user_id: text,
  created_by: text,
  created_at__gte: time,
  created_at__lt: time,
  event_kind: text,
  llm_platform: text,
  llm_model: text,
  success: known(v.picklist(['true', 'false'])),
  error_code: text,
  latency_ms__gte: wholeNumber,
  latency_ms__lte: wholeNumber,
  cost_usd__gte: number,
  cost_usd__lte: number,
  session_id: text,
  trace_id: known(v.pipe(v.string(), v.trim(), v.toLowerCase(), v.regex(new RegExp(patterns.traceId)))),
  include_purged: yes,
  verify: yes,
  sort: known(v.picklist(sorts)),
  within: known(v.picklist(ranges)),
  /** The id of the record whose details are open. */
  open: id,
  /** The id of a saved view. */
  view: text,
  /** The parameters of the link that were not understood, which the page reports. */
  missed: text,
})

/**
 * The parameters of `GET /api/v1/hub/records` by their own names, and the open record. Unknown values are dropped and
 * named in `missed`: otherwise a link to a few records would silently become one to all.
 */
export const recordsSearch = v.pipe(
  v.custom<v.InferInput<typeof understood>>((given) => typeof given === 'object' && given !== null),
  v.transform((given) => {
    const search = v.parse(understood, given)
    const names = Object.keys(understood.entries) as (keyof typeof search)[]
    const missed = names.filter((name) => given[name] !== undefined && search[name] === undefined)
    if (missed.length === 0) return search
    return {
      ...search,
      missed: missed
        .map((name) => `${name}=${given[name]}`)
        .join(', ')
        .slice(0, 300),
    }
  }),
)

export type RecordsSearch = v.InferOutput<typeof recordsSearch>
