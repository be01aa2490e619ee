import * as v from 'valibot'

export const eventsSearch = v.object({})
