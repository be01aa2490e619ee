import { isJsonObject, type JsonObject } from '../../../provenance/json.ts'
import type { VerifiedEvent } from '../verification/verification-types.ts'

/**
 * Maps people above member, deactivated people and service accounts to their access, by the newest event about each.
 */
export type AccessInEvents = ReadonlyMap<string, { eventId: string; access: string }>

/** Applies one event after the other, in their order. Deletes the entry of an active member or a disabled account. */
export function applyEvent(access: Map<string, { eventId: string; access: string }>, event: VerifiedEvent): void {
  const { eventId, subject, details } = event
  const { after, change } = details
  if (!isJsonObject(after) || typeof change !== 'string') return
  const isUser = subject.startsWith('user:')
  if (!isUser && !subject.startsWith('service_account:')) return
  const now = isUser
    ? accessOfUser(String(after.role), after.active === true)
    : accessOfAccount(change, after, access.get(subject)?.access)
  if (now === undefined) access.delete(subject)
  else access.set(subject, { eventId, access: now })
}

/** Stands for the access of a deactivated person. */
export const noAccess = 'none'

/** Returns the access of a person; undefined for active members, which are not tracked. */
function accessOfUser(role: string, active: boolean): string | undefined {
  if (!active) return noAccess
  return role === 'member' ? undefined : role
}

function accessOfAccount(change: string, after: JsonObject, former: string | undefined): string | undefined {
  if (change === 'service_account_disabled') return undefined
  return Array.isArray(after.scopes) ? after.scopes.join(' ') : former
}
