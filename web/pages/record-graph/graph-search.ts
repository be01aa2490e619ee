import * as v from 'valibot'

export const graphSearch = v.object({})
