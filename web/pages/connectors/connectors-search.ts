import * as v from 'valibot'

const text = v.optional(v.fallback(v.optional(v.pipe(v.string(), v.maxLength(64))), undefined))

/** The id of the connector whose details are open. */
export const connectorsSearch = v.object({ connector: text })
