import * as v from 'valibot'
import { searchLengthMax } from '../../../contract/limits.ts'
import { patterns, recordTypes } from '../../../contract/literals.ts'
import { addressSearch, known, oneOf, text, time } from '../../components/search-schemas.ts'

const id = known(v.pipe(v.string(), v.regex(new RegExp(patterns.uuid)), v.description('the id of a record')))
const yes = known(v.literal('true'))
const number = known(v.pipe(v.string(), v.regex(/^\d{1,12}(\.\d{1,6})?$/), v.description('a number such as 0.25')))
const wholeNumber = known(v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.description('a whole number such as 250')))

/** Ranges relative to the current time, so that a link or a saved view stays useful. */
export const ranges = ['24h', '7d', 'week', '30d', '90d'] as const
export const sorts = ['created_at', '-created_at', 'cost_usd_estimate', '-cost_usd_estimate'] as const

/** The parameters of `GET /api/v1/hub/records` by their own names, and the open record. */
export const recordsSearch = addressSearch({
  /** The words of a full-text search. */
  q: known(
    v.pipe(
      v.string(),
      v.trim(),
      v.minLength(1),
      v.maxLength(searchLengthMax),
      v.description(`1 to ${searchLengthMax} characters`),
    ),
  ),
  record_type: oneOf(recordTypes),
  record_id: id,
  skill_id: text(),
  archetype_id: text(),
  user_id: text(),
  created_by: text(),
  created_at__gte: time,
  created_at__lt: time,
  event_kind: text(),
  llm_platform: text(),
  llm_model: text(),
  success: oneOf(['true', 'false']),
  error_code: text(),
  latency_ms__gte: wholeNumber,
  latency_ms__lte: wholeNumber,
  cost_usd__gte: number,
  cost_usd__lte: number,
  session_id: text(),
  trace_id: known(
    v.pipe(
      v.string(),
      v.trim(),
      v.toLowerCase(),
      v.regex(new RegExp(patterns.traceId)),
      v.description('32 hexadecimal digits'),
    ),
  ),
  include_purged: yes,
  verify: yes,
  sort: oneOf(sorts),
  within: oneOf(ranges),
  /** The id of the record whose details are open. */
  open: id,
  /** The id of a saved view. */
  view: text(),
})

export type RecordsSearch = v.InferOutput<typeof recordsSearch>
