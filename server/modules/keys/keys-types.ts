import type { KeyObject } from 'node:crypto'
import type { RegistryTx, TenantTx } from '../../db/database.ts'

/** A tenant's current signing key. `sign` is Ed25519 over the bytes of a note. */
export interface ProvenanceSigner {
  keyId: string
  keyIdBytes: Uint8Array
  logName: string
  sign(message: Uint8Array): Uint8Array
}

/** A public half, as verification needs it. */
export interface ProvenancePublicKey {
  keyId: string
  name: string
  publicKey: Uint8Array
}

/** The provenance keys of tenants. Private halves are sealed under the master key and opened in memory only. */
export interface ProvenanceKeys {
  /**
   * The tenant's current signer, from memory once it was asked for: finding a tenant in the directory asks for it,
   * so that inside a transaction of a request no other one is opened. Throws DomainError `internal` when the tenant
   * has no key.
   */
  signerOf(tenantId: string): Promise<ProvenanceSigner>
  /** All keys the tenant ever signed with, retired ones too, cached; a key id unknown to the cache reloads it. */
  publicKeysOf(tenantId: string, wantedKeyId?: string): Promise<readonly ProvenancePublicKey[]>
}

/** A public half as `/.well-known/provenance-keys.json` shows it. */
export interface PublishedKey extends ProvenancePublicKey {
  /** RFC 3339, UTC. */
  createdAt: string
  retiredAt?: string
}

/** Makes the first key of a new tenant. Both steps may be repeated: a key that is there stays. */
export interface ProvenanceKeyMaker {
  /** The tenant's key, made in this transaction where it has none. Its name is the name of the tenant's log. */
  ensureKey(tx: TenantTx): Promise<PublishedKey>
  /** Adds the public half to the published ones. */
  publish(tx: RegistryTx, key: PublishedKey): Promise<void>
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

/** The keys of access tokens. Always answered from memory: a token's header never causes I/O. */
export interface TokenKeys {
  signingKey(): TokenSigningKey
  /** The key of that id, if it may still verify tokens. */
  verificationKey(keyId: string): TokenKey | undefined
}
