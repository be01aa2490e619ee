import { type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { type CompactJWSHeaderParameters, compactVerify } from 'jose'
import type { TokenKey, TokenSigningKey } from '../../keys/keys-types.ts'

/**
 * Three parts of base64url without padding or other characters that decoders tend to overlook (RFC 7515, section 7.1).
 */
const compactForm = /^[\w-]+\.[\w-]*\.[\w-]+$/
/** Header members that contain or locate a key. They are rejected, not ignored, and never followed. */
const foreignKeyMembers = ['jku', 'jwk', 'x5u', 'x5c'] as const

/** Order of P-256 (FIPS 186-5, SEC 2 section 2.4.2). */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const numberBytes = 32
const largestLowS = Buffer.from((order / 2n).toString(16).padStart(2 * numberBytes, '0'), 'hex')

/** Message for a valid signature that is the twin of the one the Hub signs. */
export const higherS = 'a signature with the higher s'

export interface VerifiedJws {
  header: CompactJWSHeaderParameters
  payload: Uint8Array
}

/**
 * Verifies a JWS in compact serialisation by one of the service's own keys. The key determines the algorithm; no
 * extension (`crit`) is understood. Only one form of a signature is accepted: canonical base64url, and for ES256 the
 * lower s. So nobody can turn a token into a second accepted text.
 *
 * @param keyOf returns a key from memory; its argument is untrusted
 * @throws Error whose message is for logs only
 */
export async function verifyCompactJws(
  token: string,
  keyOf: (keyId: string) => TokenKey | undefined,
): Promise<VerifiedJws> {
  if (!compactForm.test(token)) throw new Error('not a compact JWS')
  const { protectedHeader: header, payload } = await compactVerify(
    token,
    (unproven) => {
      const key = typeof unproven.kid === 'string' ? keyOf(unproven.kid) : undefined
      if (!key) throw new Error('no key of that id')
      if (unproven.alg !== key.algorithm) throw new Error('not the algorithm of the key')
      const foreign = foreignKeyMembers.find((member) => Object.hasOwn(unproven, member))
      if (foreign) throw new Error(`brings a key by ${foreign}`)
      if (Object.hasOwn(unproven, 'crit')) throw new Error('has critical extensions')
      return key.publicKey
    },
    { algorithms: ['ES256', 'RS256'] },
  )
  const signature = token.slice(token.lastIndexOf('.') + 1)
  if (!isCanonicalBase64url(signature)) throw new Error('a signature with unused bits set')
  if (header.alg === 'ES256' && !isLowS(Buffer.from(signature, 'base64url'))) throw new Error(higherS)
  return { header, payload }
}

/**
 * Returns whether the text is canonical base64url. The last character has bits that decoders ignore (RFC 4648, section
 * 3.5).
 */
export function isCanonicalBase64url(text: string): boolean {
  return Buffer.from(text, 'base64url').toString('base64url') === text
}

const signOnThreadPool = promisify(sign)

/**
 * Signs claims as a JWT of that type (RFC 7515, section 7.1). ES256 signs on the event loop, at the end of its turn:
 * the thread pool takes longer to wake the loop than the signature takes (ADR 0068).
 *
 * @param type `typ` of the header
 */
export async function signCompactJws(key: TokenSigningKey, type: string, claims: object): Promise<string> {
  const header = { alg: key.algorithm, typ: type, kid: key.keyId }
  const content = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  // RSASSA-PKCS1-v1_5 takes ten times as long as ECDSA, so it must not block the event loop.
  const signature =
    key.algorithm === 'ES256'
      ? await endOfTurn().then(() => signEs256(content, key.privateKey))
      : await signOnThreadPool('sha256', Buffer.from(content), key.privateKey)
  return `${content}.${signature.toString('base64url')}`
}

let turn: Promise<void> | undefined

/** Resolves at the end of this turn of the event loop, for all callers at once, so that their responses leave together. */
function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) =>
    setImmediate(() => {
      turn = undefined
      resolve()
    }),
  )
  return turn
}

/**
 * Signs by ECDSA on P-256 with SHA-256 in about 20 µs, and returns both numbers, as in JWS (RFC 7518, section 3.4). For
 * each (r, s) the pair (r, n − s) verifies as well. Returns the one with the lower s, the only one that
 * {@link verifyCompactJws} accepts.
 */
function signEs256(content: string, key: KeyObject): Buffer {
  const signature = sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' })
  if (!isLowS(signature)) {
    const s = order - BigInt(`0x${signature.toString('hex', numberBytes)}`)
    signature.write(s.toString(16).padStart(2 * numberBytes, '0'), numberBytes, 'hex')
  }
  return signature
}

/** Returns whether s of an ES256 signature is at most half the order of the curve. */
function isLowS(signature: Buffer): boolean {
  return signature.compare(largestLowS, 0, numberBytes, numberBytes) <= 0
}
