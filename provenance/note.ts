import { concatBytes, equalBytes, fromBase64, fromHex, type Sha256, toBase64, toHex, utf8 } from './bytes.ts'
import { ProvenanceError } from './errors.ts'
import {
  type AsyncCrypto,
  isSignedBy,
  runAsync,
  runSync,
  type SyncAsyncTask,
  type SyncCrypto,
  sha256Of,
} from './sync-async-runner.ts'

/** Signed notes, https://c2sp.org/signed-note, with Ed25519 signatures (type 0x01) only. */
export type Note = {
  /** Ends in a newline. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

export type NoteSignature = {
  readonly name: string
  /** 4 bytes: the beginning of the key hash. */
  readonly keyHash: Uint8Array
  readonly signature: Uint8Array
}

export type NoteKey = { readonly name: string; readonly publicKey: Uint8Array }

const ed25519Type = 1
const noteLengthMax = 1_000_000
const signatureCountMax = 100

/** Returns true for a key name: not empty, no Unicode space, no control character, no plus sign. */
export function isKeyName(name: string): boolean {
  return /^[^\p{White_Space}\p{Cc}+]+$/u.test(name) && name.isWellFormed()
}

/** Returns the input of a key's hash: name ‖ "\n" ‖ 0x01 ‖ 32-byte public key. Throws `key-malformed`. */
export function keyHashInput(name: string, publicKey: Uint8Array): Uint8Array {
  if (!isKeyName(name)) throw new ProvenanceError('key-malformed', 'a key name has no spaces and no plus sign')
  if (publicKey.length !== 32) throw new ProvenanceError('key-malformed', 'an Ed25519 public key has 32 bytes')
  return concatBytes(utf8(`${name}\n`), Uint8Array.of(ed25519Type), publicKey)
}

/** Returns `<name>+<8 hex digits>+<base64(0x01 ‖ public key)>`. Throws `key-malformed`. */
export function formatVkey(name: string, publicKey: Uint8Array, sha256: Sha256): string {
  const keyHash = sha256(keyHashInput(name, publicKey)).subarray(0, 4)
  return `${name}+${toHex(keyHash)}+${toBase64(concatBytes(Uint8Array.of(ed25519Type), publicKey))}`
}

/** Reads the output of {@link formatVkey} and recomputes its hash. Throws `key-malformed`. */
export function parseVkey(vkey: string, sha256: Sha256): NoteKey {
  return runSync(vkeyIn(vkey), { sha256, verifyEd25519: () => false })
}

/** Works like {@link parseVkey}, for any runtime. */
export function* vkeyIn(vkey: string): SyncAsyncTask<NoteKey> {
  const [, name, hash, encoded] = /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(vkey) ?? []
  if (name === undefined || hash === undefined || encoded === undefined) {
    throw new ProvenanceError('key-malformed', 'a verifier key is <name>+<hash>+<key>')
  }
  const key = decodeAs('key-malformed', 'verifier key', encoded)
  if (key[0] !== ed25519Type) throw new ProvenanceError('key-malformed', 'the verifier key is not of type Ed25519')
  const publicKey = key.subarray(1)
  const keyHash = (yield* sha256Of(keyHashInput(name, publicKey))).subarray(0, 4)
  if (!equalBytes(keyHash, fromHex(hash))) {
    throw new ProvenanceError('key-malformed', 'the hash in the verifier key is not that of its name and key')
  }
  return { name, publicKey }
}

/** Returns the note as text. Throws `note-malformed` if the result could not be read back. */
export function formatNote(note: Note): string {
  const lines = note.signatures.map(
    ({ name, keyHash, signature }) => `— ${name} ${toBase64(concatBytes(keyHash, signature))}\n`,
  )
  const text = `${note.text}\n${lines.join('')}`
  parseNote(text)
  return text
}

/** Splits a note into text and signatures, without verifying them. Throws `note-malformed`. */
export function parseNote(source: string): Note {
  if (source.length > noteLengthMax) throw malformed(`longer than ${noteLengthMax} characters`)
  if (!source.isWellFormed()) throw malformed('has a lone surrogate')
  if (/[^\n\x20-\u{10ffff}]/u.test(source)) throw malformed('has a control character')
  const split = source.lastIndexOf('\n\n')
  if (split < 0) throw malformed('has no empty line before its signatures')
  if (!source.endsWith('\n')) throw malformed('does not end in a newline')
  const lines = source.slice(split + 2, -1).split('\n')
  if (lines.length > signatureCountMax) throw malformed(`has more than ${signatureCountMax} signatures`)
  return { text: source.slice(0, split + 1), signatures: lines.map(parseSignatureLine) }
}

function parseSignatureLine(line: string): NoteSignature {
  const [, name, encoded] = /^— (\S+) (\S+)$/u.exec(line) ?? []
  if (name === undefined || encoded === undefined || !isKeyName(name)) throw malformed('has a malformed signature line')
  const bytes = decodeAs('note-malformed', 'signature', encoded)
  if (bytes.length < 5) throw malformed('has a signature that is too short')
  return { name, keyHash: bytes.subarray(0, 4), signature: bytes.subarray(4) }
}

/**
 * Returns true if one of the keys signed the note. Ignores signatures of unknown keys. An invalid signature of a known
 * key makes the note invalid, as the specification requires.
 */
export function verifyNoteSync(note: Note, keys: readonly NoteKey[], crypto: SyncCrypto): boolean {
  return runSync(isNoteSigned(note, keys), crypto)
}

/** Works like {@link verifyNoteSync}, with WebCrypto. */
export function verifyNote(note: Note, keys: readonly NoteKey[], crypto: AsyncCrypto): Promise<boolean> {
  return runAsync(isNoteSigned(note, keys), crypto)
}

/** Works like {@link verifyNoteSync}, for any runtime. */
export function* isNoteSigned(note: Note, keys: readonly NoteKey[]): SyncAsyncTask<boolean> {
  const message = utf8(note.text)
  let isSigned = false
  for (const key of keys) {
    const keyHash = (yield* sha256Of(keyHashInput(key.name, key.publicKey))).subarray(0, 4)
    for (const signature of note.signatures) {
      if (signature.name !== key.name || !equalBytes(signature.keyHash, keyHash)) continue
      if (!(yield* isSignedBy(key.publicKey, message, signature.signature))) return false
      isSigned = true
    }
  }
  return isSigned
}

function decodeAs(code: 'key-malformed' | 'note-malformed', what: string, text: string): Uint8Array {
  try {
    return fromBase64(text)
  } catch (error) {
    throw new ProvenanceError(code, `${what}: ${error instanceof Error ? error.message : error}`)
  }
}

function malformed(problem: string): ProvenanceError {
  return new ProvenanceError('note-malformed', `the note ${problem}`)
}
