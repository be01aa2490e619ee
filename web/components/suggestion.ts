import type { ApiResponse } from '../api/api-client.ts'

export type Suggestion = ApiResponse<'suggest'>['items'][number]

/** The members of records that suggestions can fill. */
export type Suggested = 'skill_id' | 'archetype_id' | 'user_id' | 'created_by' | 'llm_model' | 'subject'

/**
 * Returns the value of a suggestion for a filter. Telemetry names people by address, other records by id, and the
 * subject of an event has the kind before the id.
 */
export function filterValueOf({ kind, id, label }: Suggestion, name: Suggested): string | undefined {
  if (name === 'subject') return kind === 'model' ? undefined : `${kind === 'person' ? 'user' : kind}:${id}`
  if (name !== 'user_id') return id
  const [email] = /[^\s()]+@[^\s()]+(?=\)?$)/.exec(label) ?? []
  return email && `user:${email}`
}
