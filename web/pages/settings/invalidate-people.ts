import { queryClient } from '../../api/query-client.ts'

/** Reloads everything that pages show of people. */
export function invalidatePeople(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/roster/users'] })
}
