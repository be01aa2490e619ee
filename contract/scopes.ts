/** OAuth scopes (interface section 5, rule 5) and what each permits. */
export const scopes = {
  'hub:read': 'Read all Hub record types',
  'hub:write': 'Write Hub records',
  'hub:purge': 'Purge, restore and hold records',
  'roster:read': 'Read user, group and archetype roster',
  'roster:write': 'Modify user, group and archetype assignment',
  'skill_entitlement:read': 'Read skills and per-archetype grants',
  'skill_entitlement:write': 'Modify skills and grants',
  'telemetry:read': 'Read telemetry envelopes',
  'telemetry:write': 'Emit telemetry envelopes',
  'governance:read': 'Read governance_event records',
  'connector:admin': 'Manage LLM connector credentials',
} as const

export type Scope = keyof typeof scopes

export const scopeNames = Object.keys(scopes) as Scope[]

export function isScope(text: string): text is Scope {
  return Object.hasOwn(scopes, text)
}
