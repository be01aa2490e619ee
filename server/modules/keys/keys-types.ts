import type { KeyObject } from 'node:crypto'
import type { RegistryTx, TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { Actor } from '../governance/governance-types.ts'

/** A tenant's current signing key. `sign` is Ed25519 over the bytes of a note. */
export interface ProvenanceSigner {
  keyId: string
  keyIdBytes: Uint8Array
  logName: string
  sign(message: Uint8Array): Uint8Array
}

/** The provenance keys of tenants. Private halves are sealed under the master key and opened in memory only. */
export interface ProvenanceKeys {
  /**
   * The tenant's current signer, cached. A caller that is inside a transaction of the tenant passes it, because
   * another must not be opened in there. Throws DomainError `internal` when the tenant has no key.
   */
  signerOf(tenantId: string, tx?: TenantTx): Promise<ProvenanceSigner>
  /**
   * All keys the tenant ever signed with, retired ones too, cached: rows whose private half does not open under the master
   * key are not among them, for whoever writes to the database could put them in. The cache is loaded anew when one of the `needed`
   * key ids is not in it; those that are unknown even then are left out. Inside a transaction that goes
   * along: another must not be opened meanwhile.
   */
  publicKeysOf(tenantId: string, needed?: readonly string[], tx?: TenantTx): Promise<readonly PublishedKey[]>
}

/** A public half, as verification needs it and as `/.well-known/provenance-keys.json` shows it. */
export interface PublishedKey {
  keyId: string
  name: string
  publicKey: Uint8Array
  /** RFC 3339, UTC. */
  createdAt: string
  retiredAt?: string
  /** The note by which the key before introduces it; none in the first. */
  succession?: string
}

/** Something that is stored about a key and should not be, or is not as it should be. */
export interface KeyProblem {
  /** None where it is about all keys of the log. */
  keyId?: string
  /** What should be so: made by the service, introduced by the key before, published as it is. */
  check: 'keys_genuine' | 'keys_introduced' | 'keys_published'
  /** In words. */
  problem: string
}

/** Finds what was done to the stored keys of a log, and to those that are published for it. */
export interface ProvenanceKeyAudit {
  /** Reads all anew. `keys` are those that the service made: their private halves open under the master key. */
  auditKeys(
    tenant: Pick<Tenant, 'slug' | 'logName'>,
  ): Promise<{ keys: readonly PublishedKey[]; problems: KeyProblem[] }>
}

/** Makes the first key of a new tenant. Both steps may be repeated: a key that is there stays. */
export interface ProvenanceKeyMaker {
  /** The tenant's key, made in this transaction where it has none. Its name is the name of the tenant's log. */
  ensureKey(tx: TenantTx): Promise<PublishedKey>
  /** Adds the public half to the published ones. */
  publish(tx: RegistryTx, key: PublishedKey): Promise<void>
}

/** A new key of a tenant, which is not stored yet, and the one that has signed its introduction. */
export interface SuccessorKey {
  key: PublishedKey
  predecessorId: string
  /** Sealed under the master key. */
  privateKeySealed: Buffer
}

/** The steps in which a key takes the place of another. */
export interface ProvenanceKeySuccession {
  /** Makes a key, introduced by the tenant's current one. Stores nothing. */
  prepareSuccessor(tenantId: string): Promise<SuccessorKey>
  /**
   * Stores it and retires its predecessor: from the commit on this process signs with it, others within five seconds.
   *
   * @throws DomainError `concurrent-modification` when another key has taken that place meanwhile
   */
  succeed(tx: TenantTx, successor: SuccessorKey): Promise<void>
  /** Shows as retired, among the published keys, those of the log but the one that `keep` tells of. */
  retirePublished(tx: RegistryTx, logName: string, keep: string): Promise<void>
  /** {@link retirePublished} of one that never signed anything. */
  withdraw(tx: RegistryTx, keyId: string): Promise<void>
}

/** What a rotation did, in the names of the command's answer. */
export interface ProvenanceKeyRotation {
  tenant: string
  key_id: string
  retired_key_id: string
}

export interface ProvenanceKeyRotator {
  /**
   * Gives the tenant a new key, introduced by the one before, and signs the head of its log with it.
   *
   * @throws DomainError `concurrent-modification` when somebody else rotates it at the same time
   */
  rotate(tenant: Tenant, actor: Actor): Promise<ProvenanceKeyRotation>
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
  /**
   * Before a token is signed or verified: nothing to wait for, unless this process, having slept perhaps, may have missed
   * a rotation. Throws `hub-unavailable` when the database does not answer then.
   */
  upToDate(): Promise<void> | undefined
  signingKey(): TokenSigningKey
  /** The key of that id, if it may still verify tokens. */
  verificationKey(keyId: string): TokenKey | undefined
}

/** What a rotation did, in the names of the command's answer. */
export interface TokenKeyRotation {
  key_id: string
  algorithm: TokenAlgorithm
  /** RFC 3339, UTC. Until then it is only published, so that everyone has it before it signs. */
  signs_from: string
  /** The keys that stop signing then, and verify until the last token that they signed has expired. */
  retired: { key_id: string; algorithm: string; signs_until: string; verifies_until: string }[]
}

export interface TokenKeyRotator {
  /** Makes a new key that takes the place of the others. Without an algorithm it has the one of the key before. */
  rotate(algorithm?: TokenAlgorithm): Promise<TokenKeyRotation>
}

/** A public half as `/.well-known/jwks.json` shows it (RFC 7517). Members beyond these belong to the key type. */
export interface PublicTokenKey {
  kty: string
  kid: string
  alg: string
  use: 'sig'
  crv?: string
  x?: string
  y?: string
  n?: string
  e?: string
}
