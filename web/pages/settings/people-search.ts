import * as v from 'valibot'
import { roleNames } from '../../../contract/roles.ts'

const optional = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.optional(v.fallback(v.optional(schema), undefined))

/** The filters of the listed people. */
export const peopleSearch = v.object({
  search: optional(v.pipe(v.string(), v.minLength(1), v.maxLength(200))),
  role: optional(v.picklist(roleNames)),
  active: optional(v.picklist(['true', 'false'])),
  /** Opens the form that adds a person. */
  add: optional(v.literal('1')),
})

export type PeopleSearch = v.InferOutput<typeof peopleSearch>
