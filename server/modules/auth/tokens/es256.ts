import { type KeyObject, sign } from 'node:crypto'

/** Order of P-256 (FIPS 186-5, SEC 2 section 2.4.2). */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const numberBytes = 32
const largestLowS = Buffer.from((order / 2n).toString(16).padStart(2 * numberBytes, '0'), 'hex')

/**
 * Signs by ECDSA on P-256 with SHA-256 and returns base64url of both numbers, as in JWS (RFC 7518, section 3.4). Takes
 * about 20 µs. For each (r, s) the pair (r, n − s) verifies as well. Returns the one with the lower s, the only one
 * that {@link isLowS} accepts.
 */
export function signEs256(content: string, key: KeyObject): string {
  const signature = sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' })
  if (!isLowS(signature)) {
    const s = order - BigInt(`0x${signature.toString('hex', numberBytes)}`)
    signature.write(s.toString(16).padStart(2 * numberBytes, '0'), numberBytes, 'hex')
  }
  return signature.toString('base64url')
}

/** Returns whether s of an ES256 signature is at most half the order of the curve. */
export function isLowS(signature: Buffer): boolean {
  return signature.compare(largestLowS, 0, numberBytes, numberBytes) <= 0
}
