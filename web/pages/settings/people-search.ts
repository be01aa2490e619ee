import type * as v from 'valibot'
import { roleNames } from '../../../contract/roles.ts'
import { adding, addressSearch, oneOf, text } from '../../components/search-schemas.ts'

/** The filters of the listed people. */
export const peopleSearch = addressSearch({
  search: text(200),
  role: oneOf(roleNames),
  active: oneOf(['true', 'false']),
  /** Opens the form that adds a person. */
  add: adding,
})

export type PeopleSearch = v.InferOutput<typeof peopleSearch>
