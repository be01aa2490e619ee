import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor } from '../../governance/governance-types.ts'
import type { DirectoryGroupWrite, DirectoryUserWrite, GroupMapping } from '../directory/directory-types.ts'

/** The connection of a tenant's directory to the Hub. The identity module stores it. */
export interface ScimConfiguration {
  connectionId: string
  mode: 'push' | 'pull'
  /** Base address of a pull, without a trailing slash. */
  baseUrl?: string
  groupArchetypeMap: readonly GroupMapping[]
  /** RFC 3339; in push mode, the directory's last recorded request. */
  lastRequestAt?: string
}

export interface ScimConnections {
  of(tx: TenantTx): Promise<ScimConfiguration | undefined>
  /** Returns the decrypted token of a pull. */
  pullTokenOf(tx: TenantTx, tenant: Tenant): Promise<string | undefined>
  /**
   * Returns the configuration if the directory's token belongs to the tenant. Compares in constant time; caches for a
   * few seconds.
   */
  admits(tenant: Tenant, token: string): Promise<ScimConfiguration | undefined>
  /** Records a call of the directory, at most once within some seconds. */
  noteRequest(tenant: Tenant): void
}

/** Applies a change of the SCIM configuration, in its transaction. */
export interface RosterUpkeep {
  /** Reconciles archetypes of the first people with their groups, and of the rest once the transaction commits. */
  settle(tx: TenantTx, tenant: Tenant, actor: Actor): Promise<void>
  /** Cancels queued and running syncs: the tenant no longer uses the directory they read. */
  endSyncs(tx: TenantTx, tenant: Tenant, actor: Actor): Promise<void>
}

/** Reads SCIM resources of an untrusted directory. Throws for unreadable ones. */
export interface ResourceReader {
  user(resource: unknown): DirectoryUserWrite
  /** Reads a group without its members. */
  group(resource: unknown): DirectoryGroupWrite
}
