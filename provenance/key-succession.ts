import { equalBytes, fromHex, type Sha256, utf8 } from './bytes.ts'
import { ProvenanceError } from './errors.ts'
import type { KeyRing, VerifierKey } from './keys.ts'
import { formatNote, formatVkey, isNoteSigned, type NoteKey, parseNote, vkeyIn } from './note.ts'
import { type AsyncCrypto, runAsync, runSync, type SyncAsyncTask, type SyncCrypto } from './sync-async-runner.ts'

/**
 * A key rotation of a log: a note signed by the previous key introduces a new key. A verifier that trusts the first key
 * can thus trust its successors without another channel.
 */
export type SuccessionStatement = {
  readonly logName: string
  /** The key that signs the note: 32 hexadecimal digits. */
  readonly fromKeyId: string
  /** The introduced key. */
  readonly to: Pick<VerifierKey, 'name' | 'publicKey'>
  /** Microseconds since 1970-01-01T00:00:00Z, a safe integer. */
  readonly timeMicros: number
}

/** Returns the text to sign. Its first line distinguishes it from every other note. Throws `key-malformed`. */
export function successionNoteText(
  { logName, fromKeyId, to, timeMicros }: SuccessionStatement,
  sha256: Sha256,
): string {
  const vkey = formatVkey(to.name, to.publicKey, sha256)
  return `orghub/succession/v1\nlog ${logName}\nfrom ${fromKeyId}\nto ${vkey}\ntime ${timeMicros}\n`
}

/**
 * Returns the whole note (C2SP signed-note). `sign` is Ed25519 with the previous private key. Throws `key-malformed`.
 */
export function successionNote(
  statement: SuccessionStatement,
  crypto: { readonly sha256: Sha256; readonly sign: (message: Uint8Array) => Uint8Array },
): string {
  const text = successionNoteText(statement, crypto.sha256)
  const keyHash = fromHex(statement.fromKeyId).subarray(0, 4)
  const signature = crypto.sign(utf8(text))
  return formatNote({ text, signatures: [{ name: statement.logName, keyHash, signature }] })
}

/** The trust derived from a set of trusted keys. */
export type Succession = {
  /** The pinned keys in the ring, and those that a trusted key introduced, directly or through others. */
  readonly trusted: ReadonlySet<string>
  /** The reason for distrust, by key id, for the other keys of the same logs. */
  readonly distrusted: ReadonlyMap<string, string>
}

/**
 * Follows the rotation chain from the pinned keys (key ids from a source independent of the ring). Neither result
 * contains keys of logs without a pinned key. Never throws for the ring's content.
 *
 * A key that a trusted key introduced is trusted, even if that key introduced two. The holder of a private key can
 * introduce any number of keys, so compare the log with a checkpoint stored elsewhere, too.
 */
export function verifySuccessionSync(keys: KeyRing, pinned: Iterable<string>, crypto: SyncCrypto): Succession {
  return runSync(succession(keys, pinned), crypto)
}

/** Works like {@link verifySuccessionSync}, with WebCrypto. */
export function verifySuccession(keys: KeyRing, pinned: Iterable<string>, crypto: AsyncCrypto): Promise<Succession> {
  return runAsync(succession(keys, pinned), crypto)
}

/** Works like {@link verifySuccessionSync}, for any runtime. */
export function* succession(keys: KeyRing, pinned: Iterable<string>): SyncAsyncTask<Succession> {
  const trusted = new Set([...pinned].filter((keyId) => keys.has(keyId)))
  const logs = new Set([...trusted].map((keyId) => keys.get(keyId)!.name))
  const distrusted = new Map<string, string>()
  /** Keys by the id of the key that claims to introduce them. */
  const followers = new Map<string, VerifierKey[]>()
  for (const key of keys.values()) {
    if (trusted.has(key.keyId) || !logs.has(key.name)) continue
    const from = predecessorIn(key)
    if ('problem' in from) distrusted.set(key.keyId, from.problem)
    else followers.set(from.keyId, [...(followers.get(from.keyId) ?? []), key])
  }
  // Iterating a set includes members added meanwhile. The loop therefore follows whole chains and never enters a cycle.
  for (const keyId of trusted) {
    for (const key of followers.get(keyId) ?? []) {
      const problem = yield* problemWith(key, keys.get(keyId)!)
      if (problem === undefined) trusted.add(key.keyId)
      else distrusted.set(key.keyId, problem)
    }
  }
  for (const key of [...followers.values()].flat()) {
    if (trusted.has(key.keyId) || distrusted.has(key.keyId)) continue
    distrusted.set(key.keyId, 'the key that introduces it is not trusted')
  }
  return { trusted, distrusted }
}

const statementPattern = /^orghub\/succession\/v1\nlog (\S+)\nfrom ([0-9a-f]{32})\nto (\S+)\ntime (0|[1-9]\d{0,15})\n$/

function predecessorIn(key: VerifierKey): { keyId: string } | { problem: string } {
  if (key.succession === undefined) return { problem: 'no key introduces it' }
  const note = unlessMalformed(() => parseNote(key.succession!))
  const [, logName, from] = (note && statementPattern.exec(note.text)) ?? []
  if (from === undefined) return { problem: 'its succession is not a note that introduces a key' }
  return logName === key.name ? { keyId: from } : { problem: 'its succession is of another log' }
}

function* problemWith(key: VerifierKey, from: VerifierKey): SyncAsyncTask<string | undefined> {
  const note = parseNote(key.succession!)
  if (from.name !== key.name) return 'the key that introduces it is of another log'
  const introduced = yield* keyIn(statementPattern.exec(note.text)?.[3] ?? '')
  if (introduced?.name !== key.name || !equalBytes(introduced.publicKey, key.publicKey)) {
    return 'its succession introduces another key'
  }
  const isSigned = yield* isNoteSigned(note, [from])
  return isSigned ? undefined : `key ${from.keyId} did not sign its succession`
}

function* keyIn(vkey: string): SyncAsyncTask<NoteKey | undefined> {
  try {
    return yield* vkeyIn(vkey)
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}

function unlessMalformed<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}
