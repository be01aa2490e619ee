import type * as v from 'valibot'
import { addressSearch, oneOf, text, time } from '../../components/search-schemas.ts'
import { ranges } from '../records/records-search.ts'

/** The filters of the list of sessions. */
export const sessionsSearch = addressSearch({
  skill_id: text(),
  archetype_id: text(),
  user_id: text(),
  within: oneOf(ranges),
  created_at__gte: time,
  created_at__lt: time,
})

export type SessionsSearch = v.InferOutput<typeof sessionsSearch>
