import type * as v from 'valibot'
import { searchLengthMax } from '../../../contract/limits.ts'
import { addressSearch, oneOf, recordId, text, time } from '../../components/search-schemas.ts'

/**
 * Parameters of the exports page. `?create=1` opens the form with these values: other pages link here with their
 * filters. `?create=pack` opens the form of an evidence pack.
 */
export const exportsSearch = addressSearch({
  create: text(),
  /** Record types, separated by commas. */
  record_type: text(),
  record_id: recordId,
  q: text(searchLengthMax),
  skill_id: text(),
  archetype_id: text(),
  user_id: text(),
  created_by: text(),
  event_kind: text(),
  created_at__gte: time,
  created_at__lt: time,
  format: oneOf(['jsonl', 'csv', 'parquet']),
})

export type ExportsSearch = v.InferOutput<typeof exportsSearch>
