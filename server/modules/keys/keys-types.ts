import type { TenantTx } from '../../db/database.ts'

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
   * The tenant's current signer, cached. A caller that is inside a transaction of the tenant passes it, because
   * another must not be opened in there. Throws DomainError `internal` when the tenant has no key.
   */
  signerOf(tenantId: string, tx?: TenantTx): Promise<ProvenanceSigner>
  /**
   * All keys the tenant ever signed with, retired ones too, cached. The cache is loaded anew when one of the `needed`
   * key ids is not in it; those that are unknown even then are left out. Not to be called inside a transaction.
   */
  publicKeysOf(tenantId: string, needed?: readonly string[]): Promise<readonly ProvenancePublicKey[]>
}
