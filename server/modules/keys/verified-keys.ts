import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ProvenanceKeyRow } from './keys-store.ts'
import type { ProvenanceSigner } from './keys-types.ts'
import { signerFrom } from './provenance-key-row.ts'

/** What an opened key takes is some kibibytes. */
const openedMax = 20_000

/**
 * Tells the keys that the service made from rows that somebody has put into the database: only what was sealed under the
 * master key, for that tenant and that key, opens. A public half alone would let whoever writes to the database be believed.
 */
export interface VerifiedKeys {
  /** The signer of a row; undefined where the service did not make it as it stands. */
  open(row: ProvenanceKeyRow): ProvenanceSigner | undefined
}

/** Opens each row once, as long as no byte of it changes: retired keys cost next to nothing. */
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

/** Of all that opening looks at; every part is delimited. */
function fingerprintOf({ tenant_id, key_id, name, public_key, private_key_sealed }: ProvenanceKeyRow): string {
  const parts = [tenant_id, key_id, name, public_key.toString('base64'), private_key_sealed.toString('base64')]
  return hash('sha256', JSON.stringify(parts), 'base64')
}
