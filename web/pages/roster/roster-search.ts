import * as v from 'valibot'
import { roleNames } from '../../../contract/roles.ts'

const oneOf = <const Values extends readonly string[]>(values: Values) =>
  v.optional(v.fallback(v.optional(v.picklist(values)), undefined))
const text = v.optional(v.fallback(v.optional(v.pipe(v.string(), v.maxLength(200))), undefined))

/** The filters of the roster. `active` defaults to `yes`, since people who left are rarely searched. */
export const rosterSearch = v.object({
  tab: oneOf(['groups', 'archetypes']),
  matched: oneOf(['yes', 'no']),
  active: oneOf(['no', 'all']),
  role: oneOf(roleNames),
  search: text,
  group: text,
  archetype: text,
  /** The person or group whose details are open. */
  user: text,
  members: text,
})

export type RosterSearch = v.InferOutput<typeof rosterSearch>
