import * as v from 'valibot'

export const recordsSearch = v.object({})
