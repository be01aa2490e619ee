import * as v from 'valibot'
import { patterns } from '../../contract/literals.ts'
import { parseTimestamp } from '../../contract/timestamp.ts'

/** Wraps the schema of an address parameter. Unknown values are dropped: a link never leads to an error. */
export const known = <Schema extends v.GenericSchema<string, string>>(schema: Schema) =>
  v.optional(v.fallback(v.optional(schema), undefined))

export const text = (length = 300) => known(v.pipe(v.string(), v.minLength(1), v.maxLength(length)))

export const recordId = known(v.pipe(v.string(), v.trim(), v.toLowerCase(), v.regex(new RegExp(patterns.uuid))))

/** A point in time in the API's form. */
export const time = known(
  v.pipe(
    v.string(),
    v.check((given) => parseTimestamp(given) !== undefined),
  ),
)
