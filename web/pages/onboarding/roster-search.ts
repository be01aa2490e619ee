import * as v from 'valibot'

export const rosterSearch = v.object({})
