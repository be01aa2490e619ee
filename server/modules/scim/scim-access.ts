import { DomainError } from '../../../contract/domain-error.ts'
import { isServedAt, type Tenant } from '../../http/caller.ts'
import type { ScimConnections } from '../roster/sync/sync-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'

const slugLengthMax = 63

export interface ScimAccess {
  /** @returns the tenant and its connection, or undefined for whatever is wrong */
  open(
    slug: string,
    token: string | undefined,
    hostTenant: Tenant | null,
  ): Promise<{ tenant: Tenant; connectionId: string } | undefined>
}

/**
 * Who a SCIM request is from. A tenant that does not exist, is not served at this host, has no SCIM that pushes, or another
 * token: nobody learns which. The tenant is read past the cache, so that one in use is not found sooner than another.
 */
export function createScimAccess(deps: { tenants: TenantDirectory; connections: ScimConnections }): ScimAccess {
  return {
    async open(slug, token, hostTenant) {
      if (token === undefined || slug.length > slugLengthMax) return undefined
      const tenant = await deps.tenants.read(slug)
      if (!tenant || !isServedAt(hostTenant?.slug, tenant)) return undefined
      const configuration = await deps.connections.admits(tenant, token)
      if (configuration?.mode !== 'push') return undefined
      deps.connections.noteRequest(tenant)
      return { tenant, connectionId: configuration.connectionId }
    },
  }
}

/** The one 401. */
export function notAdmitted(): DomainError {
  return new DomainError(
    'authentication-failed',
    'The request has no token of this tenant’s SCIM configuration. Send it as Authorization: Bearer.',
  )
}
