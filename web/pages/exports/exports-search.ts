import * as v from 'valibot'

const text = v.optional(v.fallback(v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(300))), undefined))

/** `?create=1` opens the form with these values in it: other pages lead here with what they show. */
export const exportsSearch = v.object({
  create: text,
  /** Types with commas between. */
  record_type: text,
  record_id: text,
  skill_id: text,
  archetype_id: text,
  user_id: text,
  created_by: text,
  event_kind: text,
  created_at__gte: text,
  created_at__lt: text,
  format: v.optional(v.fallback(v.optional(v.picklist(['jsonl', 'csv', 'parquet'])), undefined)),
})

export type ExportsSearch = v.InferOutput<typeof exportsSearch>
