import { parseTimestamp } from '../../contract/timestamp.ts'
import { cosignOfLeaf, encodeCosign, ProvenanceError, type Seal } from '../../provenance/index.ts'
import { leavesPerUpperNode, lowerPath } from '../../provenance/upper-nodes.ts'
import { nodeCrypto } from './node-crypto.ts'
import type { StoredPlace, StoredSeal } from './record-rows.ts'

/** Replaces a cosignature that cannot be rebuilt, because its seal was edited or is gone. Never verifies. */
export const unknownCosign = 'omhc1.'

const saltBytes = 16
const signatureBytes = 64

/** Returns the `provenance_cosign` of a record, rebuilt from stored values. */
export function cosignOf(place: StoredPlace): string {
  const { key_id, sealed_at, leaves_bytes, cosign_parts } = place
  if (key_id === null || sealed_at === null || leaves_bytes === null || cosign_parts === null) return unknownCosign
  const timeMicros = microsOf(sealed_at)
  if (timeMicros === undefined || leaves_bytes % 32 !== 0) return unknownCosign
  const { seal_id: sealId, leaf_index: leafIndex, leaves } = place
  const salt = cosign_parts.subarray(0, saltBytes)
  const signature = cosign_parts.subarray(saltBytes, saltBytes + signatureBytes)
  const head = { keyId: key_id, sealId, timeMicros, signature }
  try {
    if (leaves !== null) return cosignOfLeaf({ ...head, leaves }, leafIndex, salt, nodeCrypto.sha256)
    const leafCount = leaves_bytes / 32
    const path = pathOf(cosign_parts.subarray(saltBytes + signatureBytes), leafIndex, leafCount)
    return encodeCosign({ ...head, leafCount, leafIndex, salt, path })
  } catch (error) {
    if (error instanceof ProvenanceError) return unknownCosign
    throw error
  }
}

function pathOf(parts: Uint8Array, leafIndex: number, leafCount: number): Uint8Array[] {
  const position = leafIndex & (leavesPerUpperNode - 1)
  const groupBytes = 32 * Math.min(leavesPerUpperNode, leafCount - (leafIndex - position))
  const path = lowerPath(parts.subarray(0, groupBytes), position, nodeCrypto.sha256)
  for (let at = groupBytes; at < parts.length; at += 32) path.push(parts.subarray(at, at + 32))
  return path
}

/** Returns the seal in the form of the provenance core, or undefined for impossible stored values. */
export function sealOf(stored: StoredSeal): Seal | undefined {
  const timeMicros = microsOf(stored.sealed_at)
  if (timeMicros === undefined) return undefined
  const { seal_id: sealId, key_id: keyId, leaves, signature } = stored
  return { sealId, keyId, timeMicros, leaves, signature }
}

/** Parses a time in PostgreSQL's output form. Returns undefined for any other value, such as `infinity`. */
function microsOf(text: string): number | undefined {
  const time = parseTimestamp(text.replace(' ', 'T').replace(/\+00$/, 'Z'))
  return time && time.epochMs * 1000 + time.microsOfMs
}
