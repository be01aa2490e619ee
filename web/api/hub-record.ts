import type { ApiResponse } from './api-client.ts'

/** A record in an API response: the members of its type are beside the common members. */
export type HubRecord = ApiResponse<'getRecord'>
