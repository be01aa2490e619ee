import { concatBytes, fromBase64, fromHex, type Sha256, toBase64, utf8 } from './bytes.ts'
import type { Cosign } from './cosign.ts'
import { ProvenanceError } from './errors.ts'
import { rootFromInclusionPath } from './merkle.ts'
import { parseNote } from './note.ts'
import { leafHash, type Seal, type SealStatement, sealNoteText, sealSizeMax, sealTree } from './seal.ts'

/**
 * The tenant's log: an RFC 6962 tree whose leaves are the signed notes of the tenant's seals, in order of integration.
 */

const leafPrefix = Uint8Array.of(0)

/** Returns the whole signed note of a seal, including the signature line: the data of its leaf in the log. */
export function sealNote(statement: SealStatement, keyId: string, signature: Uint8Array): string {
  return signedNote(sealNoteText(statement), statement.logName, keyId, signature)
}

/** Returns the tree of a stored seal, its note, and the signed text of that note. Throws `seal-malformed`. */
export function openSeal(
  seal: Seal,
  logName: string,
  sha256: Sha256,
): ReturnType<typeof sealTree> & { text: string; note: string } {
  const tree = sealTree(seal, sha256)
  const { sealId, keyId, timeMicros, signature } = seal
  const text = sealNoteText({ logName, sealId, leafCount: tree.leaves.length, timeMicros, root: tree.root })
  return { ...tree, text, note: signedNote(text, logName, keyId, signature) }
}

/**
 * Returns the note of a record's seal from the record's hash and cosignature alone. Throws `seal-malformed` for a hash
 * that is not 32 bytes.
 */
export function sealNoteOfRecord(logName: string, cosign: Cosign, recordHash: Uint8Array, sha256: Sha256): string {
  const { keyId, sealId, timeMicros, leafCount, leafIndex, path, signature } = cosign
  const leaf = leafHash(cosign.salt, recordHash, sha256)
  const root = rootFromInclusionPath(leafIndex, leafCount, leaf, path, sha256)
  return sealNote({ logName, sealId, leafCount, timeMicros, root }, keyId, signature)
}

/** Returns a note with one signature of a key. The key hash in a signature line is the beginning of the key id. */
export function signedNote(text: string, logName: string, keyId: string, signature: Uint8Array): string {
  const signed = toBase64(concatBytes(fromHex(keyId).subarray(0, 4), signature))
  return `${text}\n— ${logName} ${signed}\n`
}

/** Returns SHA-256(0x00 ‖ note), RFC 6962 §2.1. */
export function logLeafHash(note: string, sha256: Sha256): Uint8Array {
  return sha256(concatBytes(leafPrefix, utf8(note)))
}

const sealNotePattern =
  /^orghub\/seal\/v1\nlog (\S+)\nseal ([0-9a-f-]{36})\ntime (\d{1,16})\nleaves (\d{1,2})\nroot (\S{44})\n$/

/**
 * Reads the signed note of a seal without verifying its signatures (`verifyNote` does). Throws `note-malformed` for
 * anything else, and `encoding-malformed` for a root that is not base64.
 */
export function parseSealNote(note: string): SealStatement {
  const { text } = parseNote(note)
  const [, logName = '', sealId = '', time = '', leaves = '', root = ''] = sealNotePattern.exec(text) ?? []
  const statement = { logName, sealId, timeMicros: Number(time), leafCount: Number(leaves), root: fromBase64(root) }
  const { leafCount, timeMicros } = statement
  const isSound = leafCount >= 1 && leafCount <= sealSizeMax && Number.isSafeInteger(timeMicros)
  // Each statement has one text.
  if (!isSound || statement.root.length !== 32 || sealNoteText(statement) !== text) {
    throw new ProvenanceError('note-malformed', 'the note is not that of a seal')
  }
  return statement
}
