import { DomainError } from '../../../contract/domain-error.ts'
import { isServedAt, type Tenant } from '../../http/caller.ts'
import type { ScimConnections } from '../roster/sync/sync-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'

const slugLengthMax = 63

export interface ScimAccess {
  tenants: Pick<TenantDirectory, 'read'>
  connections: Pick<ScimConnections, 'admits' | 'noteRequest'>
}

/**
 * Authenticates a SCIM request. Returns undefined for a tenant that is unknown, not served at this host, without SCIM in
 * push mode, or with another token. Reads the tenant past the cache, so that the time does not reveal a tenant in use.
 */
export async function openScim(
  { tenants, connections }: ScimAccess,
  slug: string,
  token: string | undefined,
  hostTenant: Tenant | null,
): Promise<{ tenant: Tenant; connectionId: string } | undefined> {
  if (token === undefined || slug.length > slugLengthMax) return undefined
  const tenant = await tenants.read(slug)
  if (!tenant || !isServedAt(hostTenant?.slug, tenant)) return undefined
  const configuration = await connections.admits(tenant, token)
  if (configuration?.mode !== 'push') return undefined
  connections.noteRequest(tenant)
  return { tenant, connectionId: configuration.connectionId }
}

/** Creates the only 401 of this protocol. */
export function notAdmitted(): DomainError {
  return new DomainError(
    'authentication-failed',
    'The request has no token of this tenant’s SCIM configuration. Send it as Authorization: Bearer.',
  )
}
