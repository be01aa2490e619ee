import { describe, expect, test } from 'vitest'
import { concatBytes, utf8 } from '../../provenance/bytes.ts'
import {
  formatNote,
  type KeyRing,
  keyDocumentEntry,
  parseKeyDocument,
  successionNote,
  successionNoteText,
  type VerifierKey,
  verifySuccession,
  verifySuccessionSync,
} from '../../provenance/index.ts'
import { firstKey, type LogKey, logKey, strangeKey } from './fixtures.ts'
import { nodeCrypto, sha256, webCrypto } from './node-crypto.ts'

const name = firstKey.name
const [second, third, fourth] = ['second of a chain', 'third', 'fourth'].map((label) => logKey(name, label))
const timeMicros = 1_767_323_045_123_456

function introducedBy(from: LogKey, to: LogKey, changes: { logName?: string; signer?: LogKey } = {}): VerifierKey {
  const { logName = name, signer = from } = changes
  const statement = { logName, fromKeyId: from.keyId, to, timeMicros }
  return { ...to, succession: successionNote(statement, { sha256, sign: signer.sign }) }
}

const ringOf = (...keys: VerifierKey[]): KeyRing => new Map(keys.map((key) => [key.keyId, key]))
const trust = (keys: KeyRing, ...pinned: string[]) => verifySuccessionSync(keys, pinned, nodeCrypto)
const chain = ringOf(firstKey, introducedBy(firstKey, second!), introducedBy(second!, third!))

describe('the note', () => {
  test('has one form', () => {
    const text = successionNoteText({ logName: name, fromKeyId: firstKey.keyId, to: second!, timeMicros }, sha256)
    expect(text.split('\n')).toEqual([
      'orghub/succession/v1',
      `log ${name}`,
      `from ${firstKey.keyId}`,
      expect.stringMatching(/^to \S+\+[0-9a-f]{8}\+\S+$/),
      `time ${timeMicros}`,
      '',
    ])
    expect(introducedBy(firstKey, second!).succession).toBe(
      formatNote({
        text,
        signatures: [
          {
            name,
            keyHash: Uint8Array.from(Buffer.from(firstKey.keyId, 'hex').subarray(0, 4)),
            signature: Uint8Array.from(firstKey.sign(utf8(text))),
          },
        ],
      }),
    )
  })

  test('is part of the key document, and read back from it', () => {
    const keys = [...chain.values()].map((key) => keyDocumentEntry(key, sha256))
    expect(keys.map((key) => 'succession' in key)).toEqual([false, true, true])
    const read = parseKeyDocument({ keys }, sha256)
    expect(trust(read, firstKey.keyId).trusted).toEqual(new Set(chain.keys()))
    expect(() => parseKeyDocument({ keys: [{ ...keys[1]!, succession: 7 as unknown as string }] }, sha256)).toThrow(
      '/keys/0/succession is not a string',
    )
  })
})

describe('a chain', () => {
  test('is followed from the first key, in whatever order the keys stand', async () => {
    for (const keys of [chain, ringOf(...[...chain.values()].reverse())]) {
      const found = trust(keys, firstKey.keyId)
      expect(found).toEqual({ trusted: new Set(chain.keys()), distrusted: new Map() })
      expect(await verifySuccession(keys, [firstKey.keyId], webCrypto)).toEqual(found)
    }
  })

  test('is not followed backwards', () => {
    expect(trust(chain, second!.keyId)).toEqual({
      trusted: new Set([second!.keyId, third!.keyId]),
      distrusted: new Map([[firstKey.keyId, 'no key introduces it']]),
    })
  })

  test('says nothing of other logs, nor of pinned keys that are not there', () => {
    const keys = ringOf(...chain.values(), strangeKey)
    expect(trust(keys, firstKey.keyId, 'ff'.repeat(16))).toEqual(trust(chain, firstKey.keyId))
    expect(trust(chain)).toEqual({ trusted: new Set(), distrusted: new Map() })
  })

  test('may branch', () => {
    const keys = ringOf(firstKey, introducedBy(firstKey, second!), introducedBy(firstKey, third!))
    expect(trust(keys, firstKey.keyId).trusted.size).toBe(3)
  })

  test('of thousands of keys is followed to its end', () => {
    const many = Array.from({ length: 2000 }, (_, i) => logKey(name, `one of many ${i}`))
    const keys = ringOf(...many.map((key, i) => (i === 0 ? key : introducedBy(many[i - 1]!, key))))
    expect(trust(keys, many[0]!.keyId).trusted.size).toBe(2000)
  })
})

describe('what is not trusted', () => {
  const stranger = logKey(name, 'somebody else')
  const note = introducedBy(firstKey, second!).succession!
  const otherLog = logKey('orghub/log/another', 'of another log')
  const cases: [string, VerifierKey[], string][] = [
    ['a key without a note', [second!], 'no key introduces it'],
    ['a note of another kind', [{ ...second!, succession: note.replace('/v1', '/v2') }], 'not a note that introduces'],
    ['a broken note', [{ ...second!, succession: 'text' }], 'not a note that introduces'],
    ['a note with more to say', [{ ...second!, succession: note.replace('\n\n', '\nmore\n\n') }], 'not a note'],
    ['a note of another key', [{ ...stranger, succession: note }], 'introduces another key'],
    ['a changed time', [{ ...second!, succession: note.replace(String(timeMicros), '5') }], 'did not sign'],
    ['a signature by another', [introducedBy(firstKey, second!, { signer: stranger })], 'did not sign'],
    ['a note that names another log', [introducedBy(firstKey, second!, { logName: otherLog.name })], 'another log'],
    ['a vkey that is none', [{ ...second!, succession: note.replace('+', '-') }], 'introduces another key'],
    ['one that a stranger introduces', [introducedBy(stranger, second!)], 'is not trusted'],
    ['one that introduces itself', [introducedBy(second!, second!)], 'is not trusted'],
    [
      'two that introduce each other',
      [introducedBy(third!, fourth!), introducedBy(fourth!, third!)],
      'the key that introduces it is not trusted',
    ],
  ]
  test.each(cases)('%s', (_, keys, why) => {
    const { trusted, distrusted } = trust(ringOf(firstKey, ...keys), firstKey.keyId)
    expect(trusted).toEqual(new Set([firstKey.keyId]))
    expect([...distrusted.keys()].sort()).toEqual(keys.map((key) => key.keyId).sort())
    for (const reason of distrusted.values()) expect(reason).toContain(why)
  })

  test('any flipped bit of the signature', () => {
    const line = note.split('\n').at(-2)!
    const signed = Buffer.from(line.split(' ')[2]!, 'base64')
    for (let at = 0; at < signed.length; at++) {
      const changed = Uint8Array.from(signed)
      changed[at]! ^= 1
      const succession = note.replace(line, `— ${name} ${Buffer.from(concatBytes(changed)).toString('base64')}`)
      expect(trust(ringOf(firstKey, { ...second!, succession }), firstKey.keyId).trusted.size, String(at)).toBe(1)
    }
  })
})
