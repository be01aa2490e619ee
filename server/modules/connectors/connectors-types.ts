import type { Static } from 'typebox'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ConnectorBody, ConnectorChangesBody, ConnectorSchema } from './connectors-schemas.ts'

/** The credentials of a connector by name: a flat object. */
export type Credentials = Readonly<Record<string, string>>

/** Settings, with the member names of the request body. */
export type ConnectorSettings = Static<typeof ConnectorBody>

export type ConnectorChanges = Static<typeof ConnectorChangesBody>

/** A connector, with the member names of the response. */
export type ConnectorResponse = Static<typeof ConnectorSchema>

/** Decrypts the credentials of connectors. */
export interface ConnectorCredentials {
  /**
   * Returns the credentials; none without an address. Throws DomainError `hub-unavailable` while the tenant's key is
   * unreachable, `not-found` once it is destroyed, `validation-failed` if they were provided for another origin.
   */
  decrypt(
    tx: TenantTx,
    tenant: Tenant,
    of: { connector_id: string; publish_url: string | null; credentials_sealed: Buffer | null },
  ): Promise<Credentials>
}
