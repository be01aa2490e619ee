import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as bytes from '../../provenance/bytes.ts'

const any = fc.uint8Array({ maxLength: 400 })
const malformed = expect.objectContaining({ code: 'encoding-malformed' })

describe.each([
  ['hex', bytes.toHex, bytes.fromHex],
  ['base64', bytes.toBase64, bytes.fromBase64],
  ['base64url', bytes.toBase64Url, bytes.fromBase64Url],
] as const)('%s', (encoding, encode, decode) => {
  test('agrees with Buffer, both ways', () => {
    fc.assert(
      fc.property(any, (value) => {
        const text = encode(value)
        expect(text).toBe(Buffer.from(value).toString(encoding))
        expect(Uint8Array.from(decode(text))).toEqual(value)
      }),
    )
  })

  test('each value has one encoding: what decodes, encodes to the same text', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      fc.stringMatching(/^[0-9a-fA-F+/=_ \n-]*$/),
    )
    fc.assert(
      fc.property(hostile, (text) => {
        let decoded: Uint8Array
        try {
          decoded = decode(text)
        } catch (error) {
          expect(error).toEqual(malformed)
          return
        }
        expect(encode(decoded)).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })
})

test.each(['QQ', 'QQ=', 'QQ===', 'QR==', 'QUI', 'QUJ=', '=', 'Q===', 'QUJD\n', ' QUJD', 'QU-D', 'QQ==QQ=='])(
  'base64 refuses %j',
  (text) => {
    expect(() => bytes.fromBase64(text)).toThrow(malformed)
  },
)

test.each(['QQ==', 'QR', 'Q', 'QUJD\n', 'QU+D', 'QU/D', 'QUé'])('base64url refuses %j', (text) => {
  expect(() => bytes.fromBase64Url(text)).toThrow(malformed)
})

test.each(['0', 'AB', '0g', ' 00', '00\n'])('hex refuses %j', (text) => {
  expect(() => bytes.fromHex(text)).toThrow(malformed)
})

test('engines without a native base64 encoder get the same text', () => {
  fc.assert(
    fc.property(any, (value) => {
      const old = Object.defineProperty(value.slice(), 'toBase64', { value: undefined })
      expect(bytes.toBase64(old)).toBe(bytes.toBase64(value))
      expect(bytes.toBase64Url(old)).toBe(bytes.toBase64Url(value))
    }),
  )
})

test('UUIDs', () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      expect(bytes.bytesToUuid(bytes.uuidToBytes(uuid))).toBe(uuid)
    }),
  )
  const uuid = '0198c1c8-7d3f-7abc-8123-456789abcdef'
  expect(bytes.toHex(bytes.uuidToBytes(uuid))).toBe(uuid.replaceAll('-', ''))
  for (const bad of [uuid.toUpperCase(), `{${uuid}}`, uuid.replaceAll('-', ''), `${uuid}\n`, '']) {
    expect(() => bytes.uuidToBytes(bad)).toThrow(malformed)
  }
  expect(() => bytes.bytesToUuid(new Uint8Array(15))).toThrow(malformed)
})

test('utf8 refuses a lone surrogate', () => {
  expect(bytes.toHex(bytes.utf8('é😂'))).toBe('c3a9f09f9882')
  expect(() => bytes.utf8('a\ud83d')).toThrow(malformed)
})
