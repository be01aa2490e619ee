import type { AccessRefusal, TokenClaims } from '../../../http/caller.ts'
import type { RefusalLog } from '../../governance/governance-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'

/** Records a rejected access for the tenant of the token, never for the requested tenant. */
export function createAccessRefusals(deps: { directory: TenantDirectory; refusals: RefusalLog }) {
  return ({ claims, reason, details, address, requestId }: AccessRefusal): void => {
    const tenant = deps.directory.find(claims.tenantSlug)
    const subject = subjectOf(claims)
    deps.refusals.note(tenant, { kind: 'auth.access_refused', subject, reason, details, address, requestId })
  }
}

/**
 * Returns the subject of the event. A service account is its own subject; in the tokens of people the client is the web
 * UI.
 */
function subjectOf({ subject, clientId }: TokenClaims): string {
  return subject === clientId ? `service_account:${clientId}` : `user:${subject}`
}
