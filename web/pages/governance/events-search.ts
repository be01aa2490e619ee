import type * as v from 'valibot'
import { addressSearch, recordId, text, time } from '../../components/search-schemas.ts'

export const eventsSearch = addressSearch({
  event_kind: text(),
  /** A whole subject, or a part of one: `record:`. */
  subject: text(),
  actor: text(),
  created_at__gte: time,
  created_at__lt: time,
  /** The id of the event whose details are open. */
  event: recordId,
  /** The id of a saved view. */
  view: text(),
})

export type EventsSearch = v.InferOutput<typeof eventsSearch>
