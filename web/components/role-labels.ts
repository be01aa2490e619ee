import type { Role } from '../../contract/roles.ts'

/** The permissions of each role. */
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
