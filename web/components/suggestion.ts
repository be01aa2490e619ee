import type { ApiResponse } from '../api/api-client.ts'

export type Suggestion = ApiResponse<'suggest'>['items'][number]

/** The members of records that suggestions can fill. */
export type Suggested = 'skill_id' | 'archetype_id' | 'user_id' | 'created_by' | 'llm_model'

/** Returns the value of a suggestion for a filter; telemetry names people by address, other records by id. */
export function filterValueOf({ id, label }: Suggestion, name: Suggested): string | undefined {
  if (name !== 'user_id') return id
  const [email] = /[^\s()]+@[^\s()]+(?=\)?$)/.exec(label) ?? []
  return email && `user:${email}`
}
