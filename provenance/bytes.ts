import { ProvenanceError } from './errors.ts'

/**
 * Computes SHA-256; the caller passes it in, for example `crypto.hash` in Node. It must not retain its argument:
 * buffers are reused.
 */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

const encoder = new TextEncoder()
const hexDigits = '0123456789abcdef'
const hexOfByte = Array.from({ length: 256 }, (_, byte) => hexDigits.charAt(byte >> 4) + hexDigits.charAt(byte & 15))

/** Returns the UTF-8 bytes of a text. Throws `encoding-malformed` on a lone surrogate, which UTF-8 cannot encode. */
export function utf8(text: string): Uint8Array {
  if (!text.isWellFormed()) throw malformed('text has a lone surrogate')
  return encoder.encode(text)
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  return joinBytes(parts)
}

/** Concatenates any number of parts, like {@link concatBytes}. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const part of parts) length += part.length
  const whole = new Uint8Array(length)
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}

/** Compares byte arrays. Not constant-time: everything compared here is public. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Returns lowercase hexadecimal digits. */
export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += hexOfByte[byte]
  return text
}

/** Decodes hexadecimal strictly: an even number of lowercase digits. Throws `encoding-malformed`. */
export function fromHex(text: string): Uint8Array {
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) throw malformed('not lowercase hexadecimal')
  if (typeof Uint8Array.fromHex === 'function') return Uint8Array.fromHex(text)
  const bytes = new Uint8Array(text.length / 2)
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return bytes
}

/** Returns standard base64 with padding (RFC 4648 §4). */
export function toBase64(bytes: Uint8Array): string {
  // The native encoder is nine times faster; engines before 2025 lack it.
  return typeof bytes.toBase64 === 'function' ? bytes.toBase64() : btoa(String.fromCharCode(...bytes))
}

/**
 * Decodes base64 strictly: exact padding, no whitespace, unused bits zero, so that each value has one encoding. Throws
 * `encoding-malformed`.
 */
export function fromBase64(text: string): Uint8Array {
  const body = /^([^=]*)={0,2}$/.exec(text)?.[1]
  if (body === undefined || text.length % 4 !== 0) throw malformed('not base64: wrong padding')
  return decodeBase64(body, standard)
}

/** Returns base64url without padding (RFC 4648 §5). */
export function toBase64Url(bytes: Uint8Array): string {
  if (typeof bytes.toBase64 === 'function') return bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Decodes base64url as strictly as {@link fromBase64}; rejects padding. */
export function fromBase64Url(text: string): Uint8Array {
  return decodeBase64(text, urlSafe)
}

/** Returns the 16 bytes of a lowercase UUID (RFC 9562 §4). Throws `encoding-malformed`. */
export function uuidToBytes(uuid: string): Uint8Array {
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid)) throw malformed('not a lowercase UUID')
  return fromHex(uuid.replaceAll('-', ''))
}

/** Returns the UUID text of 16 bytes. Throws `encoding-malformed` for any other length. */
export function bytesToUuid(bytes: Uint8Array): string {
  if (bytes.length !== 16) throw malformed('a UUID has 16 bytes')
  const hex = toHex(bytes)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const alphanumeric = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const standard = digitValues(`${alphanumeric}+/`)
const urlSafe = digitValues(`${alphanumeric}-_`)

function digitValues(alphabet: string): Int16Array {
  const values = new Int16Array(128).fill(-1)
  for (let i = 0; i < 64; i++) values[alphabet.charCodeAt(i)] = i
  return values
}

/** Decodes without the platforms' decoders, which accept whitespace and nonzero unused bits. Accepts no padding. */
function decodeBase64(text: string, values: Int16Array): Uint8Array {
  if (text.length % 4 === 1) throw malformed('not base64: wrong length')
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let bits = 0
  let bitCount = 0
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const value = values[text.charCodeAt(i)] ?? -1
    if (value < 0) throw malformed(`not base64: unexpected character at ${i}`)
    bits = ((bits << 6) | value) & 0xfff
    bitCount += 6
    if (bitCount >= 8) {
      bitCount -= 8
      bytes[length++] = bits >> bitCount
    }
  }
  if ((bits & ((1 << bitCount) - 1)) !== 0) throw malformed('not base64: unused bits are not zero')
  return bytes
}

function malformed(message: string): ProvenanceError {
  return new ProvenanceError('encoding-malformed', message)
}
