import * as v from 'valibot'
import { known, text, time } from '../../components/search-schemas.ts'
import { ranges } from '../records/records-search.ts'

/** The filters of the list of sessions. */
export const sessionsSearch = v.object({
  skill_id: text(),
  archetype_id: text(),
  user_id: text(),
  within: known(v.picklist(ranges)),
  created_at__gte: time,
  created_at__lt: time,
})

export type SessionsSearch = v.InferOutput<typeof sessionsSearch>
