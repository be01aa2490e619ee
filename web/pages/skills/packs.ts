import type { ApiResponse, Body } from '../../api/api-client.ts'

export type Pack = ApiResponse<'listCoworks'>['items'][number]
export type PackSkill = Body<'replaceCowork'>['skills'][number]
export const packsPath = '/api/v1/skill-entitlement/coworks'

/** Returns true if a pack was stored after it was last applied: its stored content is not yet in effect. */
export const isChanged = ({ applied_at, updated_at }: Pack) => applied_at !== undefined && updated_at > applied_at
