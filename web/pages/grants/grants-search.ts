import * as v from 'valibot'

const text = v.optional(v.fallback(v.optional(v.pipe(v.string(), v.maxLength(128))), undefined))

/** The filters for rows and columns of the matrix. */
export const grantsSearch = v.object({ skill: text, archetype: text })
