import * as v from 'valibot'

const text = v.optional(v.fallback(v.optional(v.pipe(v.string(), v.maxLength(128))), undefined))

/** Which rows and columns of the matrix are shown. */
export const grantsSearch = v.object({ skill: text, archetype: text })
