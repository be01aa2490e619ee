import { inclusionPathLength } from './merkle.ts'
import { sealSizeMax } from './seal.ts'

/**
 * Byte offsets of the binary form of a cosignature (docs/provenance.md §5). Code that reads many and inspects few works
 * on the bytes, and allocates no text, object or copy for each.
 */
export const cosignBytes = {
  keyId: 1,
  sealId: 17,
  time: 33,
  leafCount: 41,
  leafIndex: 42,
  salt: 43,
  signature: 59,
  path: 123,
  /** The length with a path of six hashes. */
  lengthMax: 123 + 6 * 32,
} as const

const prefix = [...'omhc1.'].map((char) => char.charCodeAt(0))

/** Values of base64url digits by character code; 255 for anything else. */
const digitValues = new Uint8Array(256).fill(255)
for (const [value, char] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].entries()) {
  digitValues[char.charCodeAt(0)] = value
}

const pathLengths = new Uint8Array((sealSizeMax + 1) * sealSizeMax)
for (let count = 1; count <= sealSizeMax; count++) {
  for (let index = 0; index < count; index++)
    pathLengths[count * sealSizeMax + index] = inclusionPathLength(index, count)
}

/**
 * Decodes the text of a cosignature inside `source` into `target`.
 *
 * @returns the number of bytes, or -1 unless the text is byte for byte what `encodeCosign` writes
 */
export function decodeCosignInto(source: Uint8Array, from: number, to: number, target: Uint8Array): number {
  for (let i = 0; i < prefix.length; i++) if (source[from + i] !== prefix[i]) return -1
  const length = decodeBase64UrlInto(source, from + prefix.length, to, target)
  return isWellFormed(target, length) ? length : -1
}

function decodeBase64UrlInto(source: Uint8Array, from: number, to: number, target: Uint8Array): number {
  const digits = to - from
  if (digits % 4 === 1 || (digits * 3) / 4 > target.length) return -1
  let at = from
  let length = 0
  // 255 has bits that no digit has. They remain visible in the sum.
  let seen = 0
  for (; at + 4 <= to; at += 4) {
    const a = digitValues[source[at]!]!
    const b = digitValues[source[at + 1]!]!
    const c = digitValues[source[at + 2]!]!
    const d = digitValues[source[at + 3]!]!
    seen |= a | b | c | d
    target[length] = (a << 2) | (b >> 4)
    target[length + 1] = (b << 4) | (c >> 2)
    target[length + 2] = (c << 6) | d
    length += 3
  }
  if (at < to) {
    const a = digitValues[source[at]!]!
    const b = digitValues[source[at + 1]!]!
    const c = at + 2 < to ? digitValues[source[at + 2]!]! : 0
    seen |= a | b | c
    target[length++] = (a << 2) | (b >> 4)
    if (at + 2 < to) target[length++] = (b << 4) | (c >> 2)
    const unused = at + 2 < to ? c & 3 : b & 15
    if (unused !== 0) return -1
  }
  return seen < 64 ? length : -1
}

function isWellFormed(cosign: Uint8Array, length: number): boolean {
  if (length < cosignBytes.path || cosign[0] !== 1) return false
  // A time must be below 2^53.
  if (cosign[cosignBytes.time] !== 0 || cosign[cosignBytes.time + 1]! > 0x1f) return false
  const count = cosign[cosignBytes.leafCount]!
  const index = cosign[cosignBytes.leafIndex]!
  if (count < 1 || count > sealSizeMax || index >= count) return false
  return length === cosignBytes.path + 32 * pathLengths[count * sealSizeMax + index]!
}

/** Returns true if two cosignatures state the same seal: all bytes but leaf index, salt and path are equal. */
export function haveSameHead(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < cosignBytes.leafIndex; i++) if (a[i] !== b[i]) return false
  for (let i = cosignBytes.signature; i < cosignBytes.path; i++) if (a[i] !== b[i]) return false
  return true
}
