import { DomainError } from '../../../contract/domain-error.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { TenantSecrets } from '../cmek/cmek-types.ts'
import type { ConnectorCredentials, Credentials } from './connectors-types.ts'

/** Credentials with the origin they were provided for; null with the delivery `pull`, which sends none. */
export interface KeptCredentials {
  credentials: Credentials
  origin: string | null
}

interface Sealed {
  connector_id: string
  credentials_sealed: Buffer | null
}

/** {@link ConnectorCredentials} that also encrypts them. */
export interface CredentialVault extends ConnectorCredentials {
  /** Encrypts credentials; returns null for none. */
  seal(tx: TenantTx, tenant: Tenant, connectorId: string, kept: KeptCredentials): Promise<Buffer | null>
  /** Decrypts credentials for any origin. Returns undefined once the tenant's key is destroyed. */
  read(tx: TenantTx, tenant: Tenant, of: Sealed): Promise<KeptCredentials | undefined>
}

/**
 * Creates the vault. It encrypts the origin together with the credentials, so that editing the address in the database
 * does not send them elsewhere.
 */
export function createCredentialVault(secrets: TenantSecrets): CredentialVault {
  const contextOf = (connectorId: string) => `hub.connectors/${connectorId}`

  async function read(tx: TenantTx, tenant: Tenant, { connector_id, credentials_sealed }: Sealed) {
    if (credentials_sealed === null) return { credentials: {}, origin: null }
    const text = await secrets.open(tx, tenant, credentials_sealed, contextOf(connector_id))
    return text === undefined ? undefined : (JSON.parse(text) as KeptCredentials)
  }

  return {
    read,
    async seal(tx, tenant, connectorId, kept) {
      if (Object.keys(kept.credentials).length === 0) return null
      return secrets.seal(tx, tenant, JSON.stringify(kept), contextOf(connectorId))
    },
    async open(tx, tenant, of) {
      if (of.publish_url === null) return {}
      const kept = await read(tx, tenant, of)
      if (kept === undefined) {
        throw new DomainError(
          'not-found',
          'The credentials were lost when the key of the tenant was destroyed. Set them again.',
        )
      }
      const { credentials, origin } = kept
      if (Object.keys(credentials).length === 0 || origin === originOf(of.publish_url)) return credentials
      const detail = 'The credentials were given for another origin than that of `publish_url`. Set them again.'
      throw new DomainError('validation-failed', detail)
    },
  }
}

/** Returns the origin of an address; null without a valid one. */
export function originOf(url: string | null | undefined): string | null {
  return URL.parse(url ?? '')?.origin ?? null
}

/** Returns a text that is equal for equal credentials in any order. */
export function textOf({ credentials, origin }: KeptCredentials): string {
  const sorted = Object.entries(credentials).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(sorted.length === 0 ? [] : [origin, sorted])
}
