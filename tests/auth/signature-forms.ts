const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

function withS(token: string, change: (s: bigint) => bigint): string {
  const [head, payload, signature = ''] = token.split('.')
  const bytes = Buffer.from(signature, 'base64url')
  const s = change(BigInt(`0x${bytes.toString('hex', 32)}`))
  bytes.write(s.toString(16).padStart(64, '0'), 32, 'hex')
  return `${head}.${payload}.${bytes.toString('base64url')}`
}

/** Returns an ES256 token with the lower s, as the Hub signs: libraries return either one. */
export const inLowForm = (token: string) => withS(token, (s) => (s > order / 2n ? order - s : s))

/** Returns an ES256 token with its other signature, (r, n - s). */
export const twinOf = (token: string) => withS(token, (s) => order - s)

/** Returns a token whose signature decodes to the same bytes: the last character has bits that decoders ignore. */
export function withUnusedBits(token: string): string {
  return `${token.slice(0, -1)}${letters[letters.indexOf(token.at(-1)!) + 1]}`
}
