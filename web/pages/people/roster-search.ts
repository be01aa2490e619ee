import * as v from 'valibot'
import { roleNames } from '../../../contract/roles.ts'

const oneOf = <const Values extends readonly string[]>(values: Values) =>
  v.optional(v.fallback(v.optional(v.picklist(values)), undefined))
const text = v.optional(v.fallback(v.optional(v.pipe(v.string(), v.maxLength(200))), undefined))

/** What is shown of the roster. `active` is `yes` where it is absent, since who has left is seldom looked for. */
export const rosterSearch = v.object({
  tab: oneOf(['groups', 'archetypes']),
  matched: oneOf(['yes', 'no']),
  active: oneOf(['no', 'all']),
  role: oneOf(roleNames),
  search: text,
  group: text,
  archetype: text,
  /** The person, or the group, whose details are open. */
  user: text,
  members: text,
})

export type RosterSearch = v.InferOutput<typeof rosterSearch>
