import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor } from '../../governance/governance-types.ts'
import type { DirectoryGroupWrite, DirectoryUserWrite, GroupMapping } from '../directory/directory-types.ts'

/** How the directory of a tenant reaches the Hub. Kept by the identity module. */
export interface ScimConfiguration {
  connectionId: string
  mode: 'push' | 'pull'
  /** Of pull: without a trailing slash. */
  baseUrl?: string
  groupArchetypeMap: readonly GroupMapping[]
  /** RFC 3339; of push, the last request of the directory that was noted. */
  lastRequestAt?: string
}

export interface ScimConnections {
  of(tx: TenantTx): Promise<ScimConfiguration | undefined>
  /** Of pull, opened. */
  pullTokenOf(tx: TenantTx, tenant: Tenant): Promise<string | undefined>
  /** Whether a token that a directory showed is the tenant's own. In constant time; cached for a few seconds. */
  admits(tenant: Tenant, token: string): Promise<ScimConfiguration | undefined>
  /** Notes that the directory called: at most once in some seconds. */
  noteRequest(tenant: Tenant): void
}

/** For the health of a tenant. */
export interface RosterSyncs {
  /** When the directory was in step last: a pull that completed, or in push mode also its last request. */
  lastSyncedAt(tx: TenantTx): Promise<string | undefined>
}

/** Brings archetypes in line with groups after what decides on them has changed: the mapping, or the bundle. */
export interface ArchetypeSettling {
  /** The first people inside the transaction; of many, the rest in the background once it commits. */
  settle(tx: TenantTx, tenant: Tenant, actor: Actor): Promise<void>
}

/** What a change of the SCIM configuration brings with it, in its transaction. */
export interface RosterUpkeep extends ArchetypeSettling {
  /** Cancels what runs or waits: the directory that it reads is no longer that of the tenant. */
  endSyncs(tx: TenantTx, tenant: Tenant, actor: Actor): Promise<void>
}

/** Reads SCIM resources of a directory that is not trusted. Throws for what cannot be read. */
export interface ResourceReader {
  user(resource: unknown): DirectoryUserWrite
  /** Without its members. */
  group(resource: unknown): DirectoryGroupWrite
}
