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
  /** The tenant's current signer, cached. Throws DomainError `internal` when the tenant has no key. */
  signerOf(tenantId: string): Promise<ProvenanceSigner>
  /** All keys the tenant ever signed with, retired ones too, cached; a key id unknown to the cache reloads it. */
  publicKeysOf(tenantId: string): Promise<readonly ProvenancePublicKey[]>
}
