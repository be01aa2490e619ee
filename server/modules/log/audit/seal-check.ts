import { type KeyRing, logLeafHash, ProvenanceError, sealNote, sealNoteText } from '../../../../provenance/index.ts'
import { sealTree } from '../../../../provenance/seal.ts'
import { logCrypto } from '../log-crypto.ts'
import type { SealParts } from '../log-store.ts'

export interface CheckedSeal {
  /** The hash of the seal's note, which is its leaf in the log. Undefined for impossible stored values. */
  leaf: Uint8Array | undefined
  /** The leaves of its records, in their order. */
  leaves: readonly Uint8Array[]
  /** The problem of the seal by itself; undefined if none. */
  problem: string | undefined
}

/**
 * Checks a seal by itself.
 *
 * @param keys the trusted keys of the log
 * @param distrusted the reasons against other keys, by key id
 */
export function checkSeal(
  logName: string,
  stored: SealParts,
  { keys, distrusted }: { keys: KeyRing; distrusted: ReadonlyMap<string, string> },
): CheckedSeal {
  const { seal_id: sealId, key_id: keyId, time_micros: timeMicros, signature } = stored
  if (timeMicros === null) return unreadable('its time cannot be read')
  try {
    const tree = sealTree({ sealId, keyId, timeMicros, leaves: stored.leaves, signature }, logCrypto.sha256)
    const statement = { logName, sealId, leafCount: tree.leaves.length, timeMicros, root: tree.root }
    const leaf = logLeafHash(sealNote(statement, keyId, signature), logCrypto.sha256)
    const key = keys.get(keyId)
    const problem =
      key === undefined
        ? `no trusted key of the log has the id ${keyId}${distrusted.has(keyId) ? `: ${distrusted.get(keyId)}` : ''}`
        : logCrypto.verifyEd25519(key.publicKey, Buffer.from(sealNoteText(statement)), signature)
          ? undefined
          : 'its signature does not verify'
    return { leaf, leaves: tree.leaves, problem }
  } catch (error) {
    if (error instanceof ProvenanceError) return unreadable(error.message)
    throw error
  }
}

function unreadable(problem: string): CheckedSeal {
  return { leaf: undefined, leaves: [], problem }
}
