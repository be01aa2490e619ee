import * as v from 'valibot'

export const graphSearch = v.object({
  depth: v.optional(v.fallback(v.optional(v.picklist(['1', '2', '3', '4', '5'])), undefined)),
  direction: v.optional(v.fallback(v.optional(v.picklist(['both', 'out', 'in'])), undefined)),
  /** How it is shown; by default as a list on phones. */
  form: v.optional(v.fallback(v.optional(v.picklist(['graph', 'list'])), undefined)),
  /** Id of the record whose details are open. */
  open: v.optional(v.fallback(v.optional(v.string()), undefined)),
})

export type GraphSearch = v.InferOutput<typeof graphSearch>
