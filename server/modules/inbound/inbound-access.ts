import { DomainError } from '../../../contract/domain-error.ts'
import type { Database } from '../../db/database.ts'
import { isServedAt, type Tenant } from '../../http/caller.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import type { InboundSecretVault } from './inbound-secrets.ts'
import { isSigned } from './inbound-signature.ts'
import { findSecret, tenantOfConnection } from './inbound-store.ts'
import type { InboundKind } from './inbound-types.ts'

/** Stands in for an unknown tenant. A tenant of this name may exist, since the result is not used. */
const anySlug = 'nobody'

/** The origin of an authenticated message. */
export interface InboundSender {
  tenant: Tenant
  connectionId: string
  kind: InboundKind
}

export interface SignedMessage {
  connectionId: string
  /** Value of `X-Service-Signature`. */
  header: string | undefined
  body: Uint8Array
  /** The tenant of the request's host, if that is a tenant's own host. */
  hostTenant: Tenant | null
}

export interface InboundAccess {
  /** Authenticates a message; returns undefined for any failure. */
  open(message: SignedMessage): Promise<InboundSender | undefined>
}

/**
 * Authenticates messages. An unknown connection, a tenant that is suspended or not served at this host, and a wrong
 * signature take the same steps, in the database too, so that nobody learns which it was. Nothing is cached, so that a
 * connection in use is not rejected sooner than another.
 */
export function createInboundAccess(deps: {
  database: Database
  tenants: Pick<TenantDirectory, 'read'>
  vault: InboundSecretVault
}): InboundAccess {
  const { database, tenants, vault } = deps
  return {
    async open({ connectionId, header, body, hostTenant }) {
      const slug = await database.withRegistry((tx) => tenantOfConnection(tx, connectionId))
      const found = await tenants.read(slug ?? anySlug)
      const tenant = slug !== undefined && found && isServedAt(hostTenant?.slug, found) ? found : undefined
      const secrets = await database.withTenant(
        slug ?? anySlug,
        async (tx) => {
          const row = await findSecret(tx, connectionId)
          return row && tenant ? vault.open(tx, tenant, row) : undefined
        },
        { readOnly: true },
      )
      const isGood = isSigned({ header, body }, secrets ?? { current: undefined, former: undefined }, Date.now())
      return isGood && tenant && secrets ? { tenant, connectionId, kind: secrets.kind } : undefined
    },
  }
}

/** Creates the only 401 of inbound messages. */
export function notAdmitted(): DomainError {
  return new DomainError(
    'authentication-failed',
    'The message has no signature of this connection that is of now. Sign `<t>.<raw body>` with its secret, and send ' +
      'X-Service-Signature: t=<seconds since 1970>,v1=<hex of the HMAC-SHA256>.',
  )
}
