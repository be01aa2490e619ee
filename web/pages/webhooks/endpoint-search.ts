import * as v from 'valibot'

export const endpointSearch = v.object({})
