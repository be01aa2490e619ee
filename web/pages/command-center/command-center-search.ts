import * as v from 'valibot'

export const commandCenterSearch = v.object({})
