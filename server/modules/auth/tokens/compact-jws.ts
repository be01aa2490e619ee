import { type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { type CompactJWSHeaderParameters, compactVerify } from 'jose'
import type { TokenKey, TokenSigningKey } from '../../keys/keys-types.ts'
import { isLowS } from './es256.ts'
import { createEs256Signer } from './es256-signer.ts'

/**
 * Three parts of base64url without padding or other characters that decoders tend to overlook (RFC 7515, section 7.1).
 */
const compactForm = /^[\w-]+\.[\w-]*\.[\w-]+$/
/** Header members that contain or locate a key. They are rejected, not ignored, and never followed. */
const foreignKeyMembers = ['jku', 'jwk', 'x5u', 'x5c'] as const

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

const signInBackground = promisify(sign)
const signEs256 = createEs256Signer()
const headers = new WeakMap<TokenSigningKey, Map<string, string>>()

/**
 * Signs claims as a JWT of that type.
 *
 * @param type `typ` of the header
 */
export async function signCompactJws(key: TokenSigningKey, type: string, claims: object): Promise<string> {
  const content = `${headerOf(key, type)}.${base64url(JSON.stringify(claims))}`
  const signature = await (key.algorithm === 'ES256' ? signEs256 : signRs256)(content, key.privateKey)
  return `${content}.${signature}`
}

/** Signs with RS256 on the thread pool, one by one: RSASSA-PKCS1-v1_5 takes ten times as long as ECDSA. */
async function signRs256(content: string, key: KeyObject): Promise<string> {
  return (await signInBackground('sha256', Buffer.from(content), key)).toString('base64url')
}

/** Returns the encoded header, made once for each key and type. */
function headerOf(key: TokenSigningKey, type: string): string {
  const made = headers.get(key) ?? new Map<string, string>()
  headers.set(key, made)
  const header = made.get(type) ?? base64url(JSON.stringify({ alg: key.algorithm, typ: type, kid: key.keyId }))
  made.set(type, header)
  return header
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}
