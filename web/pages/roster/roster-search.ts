import type * as v from 'valibot'
import { roleNames } from '../../../contract/roles.ts'
import { addressSearch, oneOf, text } from '../../components/search-schemas.ts'

/** The filters of the roster. `active` defaults to `yes`, since people who left are rarely searched. */
export const rosterSearch = addressSearch({
  tab: oneOf(['groups', 'archetypes']),
  matched: oneOf(['yes', 'no']),
  active: oneOf(['no', 'all']),
  role: oneOf(roleNames),
  search: text(200),
  group: text(200),
  archetype: text(200),
  /** The person or group whose details are open. */
  user: text(200),
  members: text(200),
})

export type RosterSearch = v.InferOutput<typeof rosterSearch>
