import type { KeyObject } from 'node:crypto'
import type { Static } from 'typebox'
import type { RegistryTx, TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { TokenKeySet } from './keys-schemas.ts'

/** The tenant's current signing key. `sign` is Ed25519 over the bytes of a note. */
export interface ProvenanceSigner {
  keyId: string
  keyIdBytes: Uint8Array
  logName: string
  sign(message: Uint8Array): Uint8Array
}

/**
 * Provides the provenance keys of tenants. Private keys are encrypted under the master key and decrypted in memory
 * only.
 */
export interface ProvenanceKeys {
  /**
   * Returns the tenant's current signer, cached. A caller inside a transaction of the tenant must pass it, because no
   * other may be opened meanwhile. Throws DomainError `internal` if the tenant has no key.
   */
  signerOf(tenantId: string, tx?: TenantTx): Promise<ProvenanceSigner>
  /**
   * Returns all keys that the tenant ever signed with, including retired ones, cached. Skips rows whose private key
   * does not decrypt under the master key, because anyone who writes to the database could add them. Reloads the cache
   * if it lacks one of the `needed` key ids, and skips ids that are still unknown. A caller inside a transaction must
   * pass it, because no other may be opened meanwhile.
   */
  publicKeysOf(tenantId: string, needed?: readonly string[], tx?: TenantTx): Promise<readonly PublishedKey[]>
}

/** A public key, as verification needs it and as `/.well-known/provenance-keys.json` publishes it. */
export interface PublishedKey {
  keyId: string
  name: string
  publicKey: Uint8Array
  /** RFC 3339, UTC. */
  createdAt: string
  retiredAt?: string
  /** The note by which the previous key introduces it; absent in the first. */
  succession?: string
}

/** A stored key that is unexpected or altered. */
export interface KeyProblem {
  /** The key; absent if the problem concerns all keys of the log. */
  keyId?: string
  /** The failed check: created by the service, introduced by the previous key, published unaltered. */
  check: 'keys_genuine' | 'keys_introduced' | 'keys_published'
  /** A description in prose. */
  problem: string
}

/** Finds tampering with the stored keys of a log and with the keys published for it. */
export interface ProvenanceKeyAudit {
  /** Reads all keys again. `keys` are those of the service: their private keys decrypt under the master key. */
  auditKeys(
    tenant: Pick<Tenant, 'slug' | 'logName'>,
  ): Promise<{ keys: readonly PublishedKey[]; problems: KeyProblem[] }>
}

/** Creates the first key of a new tenant. Both steps may be repeated: an existing key remains. */
export interface ProvenanceKeyMaker {
  /**
   * Returns the tenant's key; creates it in this transaction if it is absent. Its name is the name of the tenant's log.
   */
  ensureKey(tx: TenantTx): Promise<PublishedKey>
  /** Adds the public key to the published ones. */
  publish(tx: RegistryTx, key: PublishedKey): Promise<void>
}

/** The result of a rotation, with the names of the command's output. */
export interface ProvenanceKeyRotation {
  tenant: string
  key_id: string
  retired_key_id: string
}

export type TokenAlgorithm = 'ES256' | 'RS256'

/** A key of access tokens. The algorithm belongs to the key: a token cannot choose another one. */
export interface TokenKey {
  keyId: string
  algorithm: TokenAlgorithm
  publicKey: KeyObject
}

export interface TokenSigningKey extends TokenKey {
  privateKey: KeyObject
}

/** Provides the keys of access tokens from memory: a token's header never causes I/O. */
export interface TokenKeys {
  /**
   * Must be awaited before a token is signed or verified. Returns undefined unless this process may have missed a
   * rotation, for instance after a suspend. Throws `hub-unavailable` if the database does not respond then.
   */
  upToDate(): Promise<void> | undefined
  signingKey(): TokenSigningKey
  /** Returns the key of that id if it may still verify tokens. */
  verificationKey(keyId: string): TokenKey | undefined
}

/** The result of a rotation, with the names of the command's output. */
export interface TokenKeyRotation {
  key_id: string
  algorithm: TokenAlgorithm
  /** RFC 3339, UTC. Before that time the key is only published, so that every process has it before it signs. */
  signs_from: string
  /** The keys that stop signing at that time. They verify until the last token that they signed has expired. */
  retired: { key_id: string; algorithm: string; signs_until: string; verifies_until: string }[]
}

/** A public key in the form of `/.well-known/jwks.json` (RFC 7517). */
export type PublicTokenKey = Static<typeof TokenKeySet>['keys'][number]
