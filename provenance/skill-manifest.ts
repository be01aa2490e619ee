import { fromHex, type Sha256, toHex, utf8 } from './bytes.ts'
import { canonicalize } from './canonical.ts'
import { ProvenanceError } from './errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'
import type { KeyRing } from './keys.ts'
import { formatNote, isNoteSigned, type Note, parseNote } from './note.ts'
import {
  type AsyncCrypto,
  runAsync,
  runSync,
  type SyncAsyncTask,
  type SyncCrypto,
  sha256Of,
} from './sync-async-runner.ts'

/** The statement in the note under a skill manifest. */
export type SkillManifestStatement = {
  readonly logName: string
  /** The time of signing, in microseconds since 1970-01-01T00:00:00Z, a safe integer. */
  readonly timeMicros: number
  /** 64 lowercase hexadecimal digits: SHA-256 of the canonical manifest without its signature. */
  readonly sha256: string
}

/** A manifest with its note in the member `signature`. */
export type SignedSkillManifest = JsonObject & { readonly signature: string }

/** Returns the text to sign. Its first line distinguishes it from every other note. */
export function skillManifestNoteText({ logName, timeMicros, sha256 }: SkillManifestStatement): string {
  return `orghub/skills/v1\nlog ${logName}\ntime ${timeMicros}\nsha256 ${sha256}\n`
}

/**
 * Adds the note (C2SP signed-note) to a manifest. `sign` is Ed25519 with the private half of the key.
 *
 * Throws ProvenanceError `not-json` or `too-deep` for a value without a canonical form.
 */
export function signSkillManifest(
  manifest: JsonObject,
  by: {
    readonly logName: string
    readonly keyId: string
    readonly timeMicros: number
    readonly sha256: Sha256
    readonly sign: (message: Uint8Array) => Uint8Array
  },
): SignedSkillManifest {
  const { signature: _, ...unsigned } = manifest
  const sha256 = toHex(by.sha256(utf8(canonicalize(unsigned))))
  const text = skillManifestNoteText({ logName: by.logName, timeMicros: by.timeMicros, sha256 })
  const keyHash = fromHex(by.keyId).subarray(0, 4)
  const signature = formatNote({ text, signatures: [{ name: by.logName, keyHash, signature: by.sign(utf8(text)) }] })
  return { ...unsigned, signature }
}

/** The values that a receiver expects in a manifest; absent members are not checked. */
export type SkillManifestExpectation = {
  /** `log_name` of the connector. If absent, a manifest of any tenant of the service is accepted. */
  readonly logName?: string
  readonly connectorId?: string
  /** Maximum age of the signature in seconds, so that nobody replays withdrawn skills. */
  readonly maxAgeSeconds?: number
  /** Milliseconds since 1970-01-01T00:00:00Z; required with `maxAgeSeconds`. */
  readonly nowMs?: number
}

export type SkillManifestResult =
  | { readonly verified: true; readonly timeMicros: number; readonly keyId: string }
  | { readonly verified: false; readonly problem: string }

/** Maximum clock difference between the service's processes. A rotation reaches all of them within it. */
const clockMs = 60_000

const notePattern = /^orghub\/skills\/v1\nlog (\S+)\ntime (0|[1-9]\d{0,15})\nsha256 ([0-9a-f]{64})\n$/

/** Returns whether a key of the ring signed the unaltered manifest, and the problem if not. Never throws. */
export function verifySkillManifestSync(
  manifest: JsonValue,
  keys: KeyRing,
  crypto: SyncCrypto,
  expected: SkillManifestExpectation = {},
): SkillManifestResult {
  return runSync(manifestCheck(manifest, keys, expected), crypto)
}

/** Works like {@link verifySkillManifestSync}, with WebCrypto. */
export function verifySkillManifest(
  manifest: JsonValue,
  keys: KeyRing,
  crypto: AsyncCrypto,
  expected: SkillManifestExpectation = {},
): Promise<SkillManifestResult> {
  return runAsync(manifestCheck(manifest, keys, expected), crypto)
}

function* manifestCheck(
  manifest: JsonValue,
  keys: KeyRing,
  expected: SkillManifestExpectation,
): SyncAsyncTask<SkillManifestResult> {
  try {
    return yield* checked(manifest, keys, expected)
  } catch (error) {
    if (error instanceof ProvenanceError) return no(error.message)
    throw error
  }
}

function* checked(
  manifest: JsonValue,
  keys: KeyRing,
  expected: SkillManifestExpectation,
): SyncAsyncTask<SkillManifestResult> {
  if (!isJsonObject(manifest) || typeof manifest.signature !== 'string') return no('it has no signature')
  const { signature, ...unsigned } = manifest
  const note = parseNote(signature)
  const [, logName, time = '', digest] = notePattern.exec(note.text) ?? []
  const timeMicros = Number(time)
  if (logName === undefined || !Number.isSafeInteger(timeMicros)) return no('its signature is not that of a manifest')
  if (toHex(yield* sha256Of(utf8(canonicalize(unsigned)))) !== digest) return no('it is not what was signed')
  if (expected.logName !== undefined && expected.logName !== logName) return no('it was signed for another tenant')
  if (expected.connectorId !== undefined && expected.connectorId !== manifest.connector_id) {
    return no('it is for another connector')
  }
  const keyId = yield* signerIn(note, logName, timeMicros, keys)
  if (keyId === undefined) return no('none of the keys that were good at its time signed it')
  const { maxAgeSeconds, nowMs } = expected
  if (maxAgeSeconds !== undefined && nowMs !== undefined) {
    const ageMs = nowMs - timeMicros / 1000
    if (ageMs > maxAgeSeconds * 1000) return no(`it was signed ${Math.round(ageMs / 1000)} seconds ago`)
    if (ageMs < -clockMs) return no('it was signed in the future')
  }
  return { verified: true, timeMicros, keyId }
}

function* signerIn(note: Note, logName: string, timeMicros: number, keys: KeyRing): SyncAsyncTask<string | undefined> {
  const timeMs = timeMicros / 1000
  for (const key of keys.values()) {
    if (key.name !== logName) continue
    if (key.retiredAt !== undefined && Date.parse(key.retiredAt) + clockMs < timeMs) continue
    if (yield* isNoteSigned(note, [key])) return key.keyId
  }
  return undefined
}

function no(problem: string): SkillManifestResult {
  return { verified: false, problem }
}
