import { DomainError } from '../../../contract/domain-error.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { TenantSecrets } from '../cmek/cmek-types.ts'
import type { ConnectorCredentials, Credentials } from './connectors-types.ts'

/** Credentials with the origin they were provided for; null with the delivery `pull`, which sends none. */
export interface StoredCredentials {
  credentials: Credentials
  origin: string | null
}

export const noCredentials: StoredCredentials = { credentials: {}, origin: null }

/** The columns that {@link CredentialVault.open} needs. */
type Addressed = Parameters<ConnectorCredentials['decrypt']>[2]

/**
 * Encrypts the credentials of connectors. It encrypts the origin together with them, so that editing the address in the
 * database does not send them elsewhere.
 */
export class CredentialVault implements ConnectorCredentials {
  readonly #secrets: TenantSecrets

  constructor(secrets: TenantSecrets) {
    this.#secrets = secrets
  }

  /** Encrypts credentials; returns null for none. */
  async encrypt(tx: TenantTx, tenant: Tenant, connectorId: string, kept: StoredCredentials): Promise<Buffer | null> {
    if (Object.keys(kept.credentials).length === 0) return null
    return this.#secrets.encrypt(tx, tenant, JSON.stringify(kept), contextOf(connectorId))
  }

  /** Decrypts credentials for any origin. Returns undefined once the tenant's key is destroyed. */
  async read(tx: TenantTx, tenant: Tenant, of: Omit<Addressed, 'publish_url'>): Promise<StoredCredentials | undefined> {
    if (of.credentials_sealed === null) return noCredentials
    const text = await this.#secrets.decrypt(tx, tenant, of.credentials_sealed, contextOf(of.connector_id))
    return text === undefined ? undefined : (JSON.parse(text) as StoredCredentials)
  }

  async decrypt(tx: TenantTx, tenant: Tenant, of: Addressed): Promise<Credentials> {
    if (of.publish_url === null) return {}
    const kept = await this.read(tx, tenant, of)
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
  }
}

function contextOf(connectorId: string): string {
  return `hub.connectors/${connectorId}`
}

/** Returns the origin of an address; null without a valid one. */
export function originOf(url: string | null | undefined): string | null {
  return URL.parse(url ?? '')?.origin ?? null
}

/** Returns a text that is equal for equal credentials in any order. */
export function textOf({ credentials, origin }: StoredCredentials): string {
  const sorted = Object.entries(credentials).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(sorted.length === 0 ? [] : [origin, sorted])
}
