import * as v from 'valibot'

const text = v.optional(v.fallback(v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(300))), undefined))

export const eventsSearch = v.object({
  event_kind: text,
  /** A whole subject, or the beginning of one: `record:`. */
  subject: text,
  actor: text,
  created_at__gte: text,
  created_at__lt: text,
  /** Id of the event whose details are open. */
  event: text,
  /** Id of a saved view. */
  view: text,
})

export type EventsSearch = v.InferOutput<typeof eventsSearch>
