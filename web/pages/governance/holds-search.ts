import * as v from 'valibot'

const text = v.optional(v.fallback(v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(20_000))), undefined))

export const holdsSearch = v.object({
  state: v.optional(v.fallback(v.optional(v.picklist(['active', 'released'])), undefined)),
  /** Id of the hold whose details are open. */
  hold: text,
  /** Opens the form, with these records in it: ids with commas between, or `1`. */
  place: text,
})

export type HoldsSearch = v.InferOutput<typeof holdsSearch>
