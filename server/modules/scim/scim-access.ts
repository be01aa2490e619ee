import { DomainError } from '../../../contract/domain-error.ts'
import { isServedAt, type Tenant } from '../../http/caller.ts'
import type { ScimConnections } from '../roster/sync/sync-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'

const slugLengthMax = 63

export interface ScimAccess {
  /** @returns the tenant and its connection, or undefined for any failure */
  open(
    slug: string,
    token: string | undefined,
    hostTenant: Tenant | null,
  ): Promise<{ tenant: Tenant; connectionId: string } | undefined>
}

/**
 * Authenticates SCIM requests. Gives one result for a tenant that is unknown, not served at this host, without SCIM in
 * push mode, or with another token. Reads the tenant past the cache, so that the time does not reveal a tenant in use.
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

/** Creates the only 401 of this protocol. */
export function notAdmitted(): DomainError {
  return new DomainError(
    'authentication-failed',
    'The request has no token of this tenant’s SCIM configuration. Send it as Authorization: Bearer.',
  )
}
