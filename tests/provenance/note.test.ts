import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { concatBytes, toBase64, utf8 } from '../../provenance/bytes.ts'
import {
  formatNote,
  formatVkey,
  keyIdOf,
  type NoteSignature,
  parseNote,
  parseVkey,
  verifyNoteSync,
} from '../../provenance/index.ts'
import { firstKey, type LogKey, secondKey, strangeKey } from './fixtures.ts'
import { nodeCrypto, sha256 } from './node-crypto.ts'

const text = 'first line\n\nafter an empty line: é\n'
const malformed = expect.objectContaining({ code: 'note-malformed' })

function signatureBy(key: LogKey): NoteSignature {
  const keyHash = Uint8Array.from(Buffer.from(key.keyId, 'hex').subarray(0, 4))
  return { name: key.name, keyHash, signature: Uint8Array.from(key.sign(utf8(text))) }
}

describe('parseNote', () => {
  const source = formatNote({ text, signatures: [signatureBy(firstKey), signatureBy(secondKey)] })
  const line = source.split('\n').at(-2)!

  test('reads what formatNote writes', () => {
    expect(parseNote(source)).toEqual({ text, signatures: [signatureBy(firstKey), signatureBy(secondKey)] })
  })

  test('takes 16 signatures and more, but not any number', () => {
    const signatures = (count: number) => Array.from({ length: count }, () => signatureBy(firstKey))
    expect(parseNote(formatNote({ text, signatures: signatures(16) })).signatures).toHaveLength(16)
    expect(() => formatNote({ text, signatures: signatures(101) })).toThrow(malformed)
  })

  test.each([
    ['nothing', ''],
    ['no signature', text],
    ['no empty line', `text\n${line}\n`],
    ['no final newline', source.slice(0, -1)],
    ['carriage returns', source.replaceAll('\n', '\r\n')],
    ['NUL', source.replace('first', 'fi\0rst')],
    ['tab', source.replace('first', 'fi\trst')],
    ['lone surrogate', source.replace('first', '\ud800')],
    ['hyphen for the dash', source.replace(line, line.replace('—', '-'))],
    ['two spaces', source.replace(line, line.replace(' ', '  '))],
    ['trailing space', source.replace(line, `${line} `)],
    ['no name', source.replace(line, `— ${line.split(' ')[2]}`)],
    ['plus in the name', source.replace(line, line.replace('orghub', 'org+hub'))],
    ['no-break space in the name', source.replace(line, line.replace('orghub', 'org\u00a0hub'))],
    ['signature without padding', source.replace(line, line.replace(/=+$/, ''))],
    ['signature too short', source.replace(line, '— name AAAAAA==')],
    ['not base64', source.replace(line, '— name ****')],
    ['something after the signatures', `${source}x\n`],
    ['too long', `${'x'.repeat(1_000_001)}\n\n${line}\n`],
  ])('refuses: %s', (_, bad) => {
    expect(() => parseNote(bad)).toThrow(malformed)
  })

  test('formatNote refuses what could not be read back', () => {
    const signatures = [signatureBy(firstKey)]
    expect(() => formatNote({ text: 'a\u0007\n', signatures })).toThrow(malformed)
    expect(() => formatNote({ text, signatures: [] })).toThrow(malformed)
    expect(() => formatNote({ text, signatures: [{ ...signatures[0]!, name: 'a b' }] })).toThrow(malformed)
  })

  test('hostile notes are either refused or read back byte for byte', () => {
    const lines = fc.constantFrom('\n', '\n\n', '— ', line, 'text', ' ', '+', '=', 'AAAAAAAA', '\u2028', 'é')
    fc.assert(
      fc.property(fc.array(lines, { maxLength: 12 }), (parts) => {
        const hostile = parts.join('')
        let note: ReturnType<typeof parseNote>
        try {
          note = parseNote(hostile)
        } catch (error) {
          expect(error).toEqual(malformed)
          return
        }
        expect(formatNote(note)).toBe(hostile)
      }),
      { numRuns: 3000 },
    )
  })
})

describe('verifyNote', () => {
  const good = { text, signatures: [signatureBy(firstKey), signatureBy(strangeKey)] }

  test('one known key is enough; unknown signatures do not matter', () => {
    expect(verifyNoteSync(good, [firstKey], nodeCrypto)).toBe(true)
    expect(verifyNoteSync(good, [secondKey], nodeCrypto)).toBe(false)
    expect(verifyNoteSync(good, [], nodeCrypto)).toBe(false)
    expect(verifyNoteSync({ ...good, text: `${text}more\n` }, [firstKey], nodeCrypto)).toBe(false)
  })

  test('a bad signature of a known key condemns the note', () => {
    const forged = { ...signatureBy(strangeKey), signature: new Uint8Array(64) }
    const signatures = [signatureBy(firstKey), forged]
    expect(verifyNoteSync({ text, signatures }, [firstKey], nodeCrypto)).toBe(true)
    expect(verifyNoteSync({ text, signatures }, [firstKey, strangeKey], nodeCrypto)).toBe(false)
  })
})

describe('vkey and key id', () => {
  const vkey = formatVkey(firstKey.name, firstKey.publicKey, sha256)

  test('read back, and share the beginning of the hash', () => {
    expect(parseVkey(vkey, sha256)).toEqual({ name: firstKey.name, publicKey: Uint8Array.from(firstKey.publicKey) })
    expect(firstKey.keyId).toMatch(/^[0-9a-f]{32}$/)
    expect(vkey.split('+')[1]).toBe(firstKey.keyId.slice(0, 8))
  })

  const [name, hash, key] = [firstKey.name, firstKey.keyId.slice(0, 8), vkey.slice(firstKey.name.length + 10)]
  const otherType = toBase64(concatBytes(Uint8Array.of(4), firstKey.publicKey))
  test.each([
    '',
    name,
    `${name}+${hash}`,
    `${name}+${hash}+`,
    `${name}+${hash}+${key}=`,
    `${name}+${hash}+${key} `,
    `${name}+${hash.toUpperCase()}x+${key}`,
    `${name}+00000000+${key}`,
    `${name}x+${hash}+${key}`,
    `na me+${hash}+${key}`,
    `${name}+${hash}+${otherType}`,
    `${name}+${hash}+AQ==`,
  ])('refuses %j', (bad) => {
    expect(() => parseVkey(bad, sha256)).toThrow(expect.objectContaining({ code: 'key-malformed' }))
  })

  test('a key id commits to the name and to all of the key', () => {
    const { publicKey, keyId } = firstKey
    expect(keyIdOf(name!, publicKey, sha256)).toBe(keyId)
    expect(keyIdOf(`${name}x`, publicKey, sha256)).not.toBe(keyId)
    expect(keyIdOf(name!, publicKey.with(31, publicKey[31]! ^ 1), sha256)).not.toBe(keyId)
    expect(() => keyIdOf(name!, publicKey.subarray(1), sha256)).toThrow(
      expect.objectContaining({ code: 'key-malformed' }),
    )
    expect(() => keyIdOf('a+b', publicKey, sha256)).toThrow(expect.objectContaining({ code: 'key-malformed' }))
  })
})
