import type { ApiResponse } from './api-client.ts'

/** A record as the API answers it: the members of its type are beside those all have. */
export type HubRecord = ApiResponse<'getRecord'>
