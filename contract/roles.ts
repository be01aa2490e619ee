import { type Scope, scopeNames } from './scopes.ts'

/** Lists the permissions of each role (decisions section 5). The API and the web UI both use this table. */
export const roles = {
  admin: scopeNames,
  auditor: ['hub:read', 'telemetry:read', 'roster:read', 'skill_entitlement:read', 'governance:read'],
  analyst: ['hub:read', 'telemetry:read'],
  member: ['telemetry:read'],
} as const satisfies Record<string, readonly Scope[]>

export type Role = keyof typeof roles

export const roleNames = Object.keys(roles) as Role[]
