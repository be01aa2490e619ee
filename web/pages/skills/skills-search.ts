import * as v from 'valibot'

const id = v.optional(v.fallback(v.optional(v.pipe(v.string(), v.maxLength(128))), undefined))

/** The skill or pack whose details are open, and the search text for names. */
export const skillsSearch = v.object({ skill: id, pack: id, search: id })
