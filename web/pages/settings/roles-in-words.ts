import type { Role } from '../../../contract/roles.ts'
import type { Scope } from '../../../contract/scopes.ts'

/** What a person of a role may do. */
export const roleMeanings: Record<Role, string> = {
  admin: 'Everything: people, connections, webhooks, prices, holds and purging',
  auditor: 'Reads records of all types, numbers, people, skills and governance events; changes nothing',
  analyst: 'Reads records of all types, and the numbers',
  member: 'Telemetry and the numbers',
}

export const roleLabels: Record<Role, string> = {
  admin: 'Administrator',
  auditor: 'Auditor',
  analyst: 'Analyst',
  member: 'Member',
}

export const roleOptions = Object.entries(roleLabels).map(([value, label]) => ({ value: value as Role, label }))

/** Scopes by what they are about, for checkboxes. */
export const scopeGroups: readonly { label: string; scopes: readonly Scope[] }[] = [
  { label: 'Records', scopes: ['hub:read', 'hub:write', 'hub:purge', 'governance:read'] },
  { label: 'Telemetry', scopes: ['telemetry:write', 'telemetry:read'] },
  { label: 'People', scopes: ['roster:read', 'roster:write'] },
  { label: 'Skills', scopes: ['skill_entitlement:read', 'skill_entitlement:write'] },
  { label: 'Connections', scopes: ['connector:admin'] },
]

/** The least that common programs need. */
export const scopePresets: readonly { label: string; scopes: readonly Scope[] }[] = [
  { label: 'Send telemetry', scopes: ['telemetry:write'] },
  { label: 'Read records', scopes: ['hub:read'] },
  { label: 'Write records', scopes: ['hub:write'] },
  { label: 'Read numbers', scopes: ['telemetry:read'] },
  { label: 'Read governance events', scopes: ['governance:read'] },
  { label: 'Fetch skills', scopes: ['skill_entitlement:read'] },
]
