import type { Scope } from '../../../contract/scopes.ts'

/** Scopes by subject, for checkboxes. */
export const scopeGroups: readonly { label: string; scopes: readonly Scope[] }[] = [
  { label: 'Records', scopes: ['hub:read', 'hub:write', 'hub:purge', 'governance:read'] },
  { label: 'Telemetry', scopes: ['telemetry:write', 'telemetry:read'] },
  { label: 'People', scopes: ['roster:read', 'roster:write'] },
  { label: 'Skills', scopes: ['skill_entitlement:read', 'skill_entitlement:write'] },
  { label: 'Connections', scopes: ['connector:admin'] },
]

/** The minimum scopes of common programs. */
export const scopePresets: readonly { label: string; scopes: readonly Scope[] }[] = [
  { label: 'Send telemetry', scopes: ['telemetry:write'] },
  { label: 'Read records', scopes: ['hub:read'] },
  { label: 'Write records', scopes: ['hub:write'] },
  { label: 'Read numbers', scopes: ['telemetry:read'] },
  { label: 'Read governance events', scopes: ['governance:read'] },
  { label: 'Fetch skills', scopes: ['skill_entitlement:read'] },
]
