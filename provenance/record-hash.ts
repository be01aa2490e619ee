import { fromHex, type Sha256, toHex, utf8 } from './bytes.ts'
import { ProvenanceError } from './errors.ts'

const domain = 'orghub/record/v1\0'

/** Returns the input of a record's hash: the domain constant, then the canonical text, in UTF-8. */
export function recordHashInput(canonical: string): Uint8Array {
  return utf8(domain + canonical)
}

// Reused, because making a buffer for each record takes longer than hashing it.
const scratch = new Uint8Array(65_536)
scratch.set(utf8(domain))
const afterDomain = scratch.subarray(domain.length)
const scratchTextMax = Math.floor(afterDomain.length / 3)
const encoder = new TextEncoder()

/** Returns SHA-256("orghub/record/v1\0" ‖ canonical), 32 bytes. Throws `encoding-malformed` on a lone surrogate. */
export function recordHash(canonical: string, sha256: Sha256): Uint8Array {
  if (canonical.length > scratchTextMax || !canonical.isWellFormed()) return sha256(recordHashInput(canonical))
  const { written } = encoder.encodeInto(canonical, afterDomain)
  return sha256(scratch.subarray(0, domain.length + written))
}

/** Returns the `provenance_hash` of a record: `sha256:` and 64 lowercase hexadecimal digits. */
export function formatRecordHash(hash: Uint8Array): string {
  if (hash.length !== 32) throw new ProvenanceError('hash-malformed', 'a record hash has 32 bytes')
  return `sha256:${toHex(hash)}`
}

/** Parses a `provenance_hash`. Throws `hash-malformed` on anything but the output of {@link formatRecordHash}. */
export function parseRecordHash(text: string): Uint8Array {
  if (!/^sha256:[0-9a-f]{64}$/.test(text)) {
    throw new ProvenanceError('hash-malformed', 'a record hash is "sha256:" and 64 lowercase hexadecimal digits')
  }
  return fromHex(text.slice(7))
}
