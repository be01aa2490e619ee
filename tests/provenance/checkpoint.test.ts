import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { concatBytes, fromBase64, toBase64, utf8 } from '../../provenance/bytes.ts'
import {
  checkpointText,
  formatNote,
  parseCheckpoint,
  parseNote,
  parseVkey,
  rootFromInclusionPath,
  signedNote,
  verifyNote,
  verifyNoteSync,
} from '../../provenance/index.ts'
import { firstKey, strangeKey } from './fixtures.ts'
import { nodeCrypto, sha256, webCrypto } from './node-crypto.ts'

const vectors = JSON.parse(readFileSync(new URL('../../provenance/vectors/tlog.json', import.meta.url), 'utf8')) as {
  notes: { vkeys: string[]; note: string }[]
  checkpoints: { origin: string; size: number; root: string; vkey?: string; note: string }[]
  inclusion: { vkey: string; index: number; leaf_data: string; path: string[]; checkpoint: string }
}
const keyOf = (vkey: string) => parseVkey(vkey, sha256)

describe('published notes and checkpoints', () => {
  test.each(vectors.notes)('a note of two signatures', async ({ vkeys, note }) => {
    const keys = vkeys.map(keyOf)
    const parsed = parseNote(note)
    expect(formatNote(parsed)).toBe(note)
    for (const some of [keys, [keys[0]!], [keys[1]!], [keys[1]!, strangeKey]]) {
      expect(verifyNoteSync(parsed, some, nodeCrypto)).toBe(true)
      expect(await verifyNote(parsed, some, webCrypto)).toBe(true)
    }
    expect(verifyNoteSync(parsed, [], nodeCrypto)).toBe(false)
    expect(verifyNoteSync(parsed, [strangeKey], nodeCrypto)).toBe(false)
    // One signature of a known key that is wrong condemns the note.
    const [first, second] = parsed.signatures
    const wrong = { ...second!, signature: first!.signature }
    expect(verifyNoteSync({ ...parsed, signatures: [first!, wrong] }, keys, nodeCrypto)).toBe(false)
    expect(verifyNoteSync({ ...parsed, signatures: [first!, wrong] }, [keys[0]!], nodeCrypto)).toBe(true)
  })

  test.each(vectors.checkpoints)('the checkpoint of $origin', ({ origin, size, root, vkey, note }) => {
    const { root: found, ...said } = parseCheckpoint(note)
    expect(said).toEqual({ logName: origin, treeSize: size, timeMicros: undefined })
    expect(toBase64(found)).toBe(root)
    expect(checkpointText({ ...said, root: found })).toBe(parseNote(note).text)
    if (vkey !== undefined) expect(verifyNoteSync(parseNote(note), [keyOf(vkey)], nodeCrypto)).toBe(true)
  })

  test('an entry of a log of 58 million leads to its signed state', () => {
    const { vkey, index, leaf_data, path, checkpoint } = vectors.inclusion
    expect(verifyNoteSync(parseNote(checkpoint), [keyOf(vkey)], nodeCrypto)).toBe(true)
    const { root, treeSize } = parseCheckpoint(checkpoint)
    const leaf = sha256(concatBytes(Uint8Array.of(0), utf8(leaf_data)))
    expect(toBase64(rootFromInclusionPath(index, treeSize, leaf, path.map(fromBase64), sha256))).toBe(toBase64(root))
  })
})

const { name: logName, keyId, sign } = firstKey
const state = { logName, treeSize: 4711, root: sha256(utf8('root')), timeMicros: 1_767_323_045_123_456 }
const noteOf = (text: string) => signedNote(text, logName, keyId, sign(utf8(text)))

describe('our checkpoints', () => {
  test('are read back and verify by the key of the log alone', () => {
    for (const some of [state, { ...state, treeSize: 0 }, { ...state, timeMicros: undefined }]) {
      const note = noteOf(checkpointText(some))
      expect(parseCheckpoint(note)).toEqual({ ...some, root: expect.anything() })
      expect(toBase64(parseCheckpoint(note).root)).toBe(toBase64(some.root))
      expect(verifyNoteSync(parseNote(note), [firstKey], nodeCrypto)).toBe(true)
      expect(verifyNoteSync(parseNote(note), [strangeKey], nodeCrypto)).toBe(false)
    }
  })

  test('may have extension lines that nobody knows', () => {
    const text = checkpointText(state)
    expect(parseCheckpoint(noteOf(`${text}time 5\nsomething else\n`))).toMatchObject({ timeMicros: state.timeMicros })
    const { timeMicros: _, ...timeless } = state
    const said = checkpointText({ ...timeless, timeMicros: undefined })
    for (const line of ['time 01', 'time -1', 'time 9007199254740992', 'Time 5', 'time']) {
      expect(parseCheckpoint(noteOf(`${said}${line}\n`)).timeMicros).toBeUndefined()
    }
  })

  test.each([
    ['of two lines', 'log\n1\n'],
    ['without a name', `\n1\n${toBase64(state.root)}\n`],
    ['with a size in letters', `log\nbananas\n${toBase64(state.root)}\n`],
    ['with a negative size', `log\n-34\n${toBase64(state.root)}\n`],
    ['with a size that has leading zeros', `log\n01\n${toBase64(state.root)}\n`],
    ['with a size too large', `log\n9007199254740992\n${toBase64(state.root)}\n`],
    ['with a root that is not base64', `log\n1\nThisIsn'tBase64\n`],
    ['with a root of another length', 'log\n1\nYmFuYW5hcw==\n'],
    ['with an empty line', `log\n1\n${toBase64(state.root)}\n\nmore\n`],
    ['of a seal', 'orghub/seal/v1\nlog x\nseal y\n'],
  ])('a note %s is none', (_, text) => {
    expect(() => parseCheckpoint(noteOf(text))).toThrow(expect.objectContaining({ code: 'note-malformed' }))
  })

  test('a text without a signature is none', () => {
    const refusal = expect.objectContaining({ code: 'note-malformed' })
    expect(() => parseCheckpoint(checkpointText(state))).toThrow(refusal)
  })
})
