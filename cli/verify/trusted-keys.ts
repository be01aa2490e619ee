import { readFile } from 'node:fs/promises'
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type KeyRing,
  keyIdOf,
  ProvenanceError,
  parseKeyDocument,
  parseVkey,
  type VerifierKey,
  verifySuccessionSync,
} from '../../provenance/index.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { fileProblem } from '../../server/startup-error.ts'
import { counted } from '../output.ts'
import { fetchInput, isUrl } from './fetch-input.ts'
import { InconclusiveError } from './inconclusive-error.ts'

/** The trusted keys, and the reason for the trust. */
export interface Trust {
  keys: KeyRing
  /** The reason in one sentence. */
  basis: string
}

const { sha256 } = nodeCrypto

/** Reads the keys of `--keys`. Throws InconclusiveError if they are unreadable. */
export async function readKeys(place: string): Promise<KeyRing> {
  const fix = 'Give what /.well-known/provenance-keys.json of the Hub answers, or a line <name>+<hash>+<key>.'
  let text: string
  try {
    text = Buffer.concat(isUrl(place) ? await fetchInput(place) : [await readFile(place)]).toString()
  } catch (error) {
    if (error instanceof InconclusiveError) throw error
    throw new InconclusiveError(`The keys ${place} cannot be read: ${fileProblem(error)}.`, fix)
  }
  try {
    const keys = text.trimStart().startsWith('{') ? keysInJson(JSON.parse(text)) : keysInLines(text)
    if (keys.size > 0) return keys
  } catch (error) {
    if (!(error instanceof ProvenanceError || error instanceof SyntaxError)) throw error
    throw new InconclusiveError(`${place} has no keys that can be used: ${error.message}.`, fix)
  }
  throw new InconclusiveError(`${place} has no keys.`, fix)
}

/** Reads a key document, or the one inside a manifest. */
function keysInJson(json: JsonValue): KeyRing {
  const inside = isJsonObject(json) && isJsonObject(json.keys ?? null) ? json.keys : json
  return parseKeyDocument(inside as JsonValue, sha256)
}

/** Reads verifier keys (C2SP signed-note), one a line. */
function keysInLines(text: string): KeyRing {
  const keys = new Map<string, VerifierKey>()
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '' || line.startsWith('#')) continue
    const { name, publicKey } = parseVkey(line, sha256)
    const keyId = keyIdOf(name, publicKey, sha256)
    keys.set(keyId, { keyId, name, publicKey, createdAt: '' })
  }
  return keys
}

/**
 * Trusts the keys that came with the file itself.
 *
 * @param bringer the document that contains the keys
 */
export function trustOnFirstUse(document: JsonValue, bringer = 'manifest'): Trust {
  const keys = parseKeyDocument(document, sha256)
  const basis =
    `trust on first use: the keys are those that the ${bringer} itself brings, so that this shows that the file is whole, ` +
    'not who made it; give a copy that you got apart from it with --keys'
  return { keys, basis }
}

/**
 * Trusts the keys of `--keys`, and those that key rotations introduce from them.
 *
 * @param offering has a key document as `keys`, which pinned keys may introduce
 */
export function trustPinned(pinned: KeyRing, place: string, offering: JsonObject | undefined): Trust {
  const offered = offering === undefined ? undefined : offeredKeys(offering)
  // Pinned keys take precedence. A key that only the file offers counts if a trusted key introduced it.
  const all: KeyRing = new Map([...(offered ?? []), ...pinned])
  const { trusted, distrusted } = verifySuccessionSync(all, pinned.keys(), nodeCrypto)
  const keys = new Map([...all].filter(([keyId]) => trusted.has(keyId)))
  const where = isUrl(place) ? `as ${place} answered them now` : `pinned in ${place}`
  const parts = [`${counted(pinned.size, 'key')} ${where}`]
  const introduced = [...keys.keys()].filter((keyId) => !pinned.has(keyId))
  if (introduced.length > 0) parts.push(`${introduced.join(', ')} by succession: signed by a key before`)
  for (const [keyId, why] of distrusted)
    if (offered?.has(keyId)) parts.push(`${keyId} of the file is not trusted: ${why}`)
  return { keys, basis: parts.join('; ') }
}

/**
 * Trusts the keys of an evidence pack: those that pinned keys introduce, or without any, all that follow from the first.
 *
 * @throws ProvenanceError if the keys of the pack are malformed
 */
export function trustOfPack(document: JsonObject, pinned: { keys: KeyRing; place: string } | undefined): Trust {
  if (pinned !== undefined) return trustPinned(pinned.keys, pinned.place, { keys: document })
  const { keys, basis } = trustOnFirstUse(document, 'evidence pack')
  const [first] = [...keys].filter(([, { succession }]) => succession === undefined)
  const { trusted } = verifySuccessionSync(keys, first === undefined ? [] : [first[0]], nodeCrypto)
  return { keys: new Map([...keys].filter(([keyId]) => trusted.has(keyId))), basis }
}

function offeredKeys(offering: JsonObject): KeyRing | undefined {
  try {
    return parseKeyDocument(offering.keys ?? null, sha256)
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}
