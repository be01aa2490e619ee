import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ProvenanceKeyRow } from './keys-store.ts'
import type { ProvenanceSigner } from './keys-types.ts'
import { signerFrom } from './provenance-key-row.ts'

/** Maximum number of cached keys. Each takes a few kibibytes. */
const openedMax = 20_000

/**
 * Distinguishes keys that the service created from rows that somebody added to the database: a private key decrypts
 * only if it was encrypted under the master key for that tenant and key id. A check of the public key alone would trust
 * anyone who writes to the database.
 */
export interface VerifiedKeys {
  /** Returns the signer of a row; undefined unless the service created the row with these values. */
  open(row: ProvenanceKeyRow): ProvenanceSigner | undefined
}

/**
 * Creates the cache of opened keys. Opens each row once while it is unchanged, so retired keys cost next to nothing.
 */
export function createVerifiedKeys(sealingKey: Buffer): VerifiedKeys {
  const opened = new LRUCache<string, ProvenanceSigner>({ max: openedMax })
  return {
    open(row) {
      const name = fingerprintOf(row)
      const known = opened.get(name)
      if (known) return known
      const signer = tryToOpen(row, sealingKey)
      if (signer) opened.set(name, signer)
      return signer
    },
  }
}

function tryToOpen(row: ProvenanceKeyRow, sealingKey: Buffer): ProvenanceSigner | undefined {
  try {
    return signerFrom(row, sealingKey)
  } catch {
    return undefined
  }
}

/** Returns a fingerprint of every value that opening uses, with unambiguous delimiters. */
function fingerprintOf({ tenant_id, key_id, name, public_key, private_key_sealed }: ProvenanceKeyRow): string {
  const parts = [tenant_id, key_id, name, public_key.toString('base64'), private_key_sealed.toString('base64')]
  return hash('sha256', JSON.stringify(parts), 'base64')
}
