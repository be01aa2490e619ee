import { concatBytes, equalBytes, fromHex, type Sha256, toBase64, utf8, uuidToBytes } from './bytes.ts'
import { ProvenanceError } from './errors.ts'
import { treeLevels } from './merkle.ts'
import { isKeyName } from './note.ts'
import { upperNodesOf } from './upper-nodes.ts'

/** Maximum number of records under one signature: 64 leaves keep an inclusion path at 6 hashes. */
export const sealSizeMax = 64

/** One signature over the Merkle root of the records of one commit. */
export type Seal = {
  /** Lowercase UUID. */
  readonly sealId: string
  /** 32 hexadecimal digits. */
  readonly keyId: string
  /** Microseconds since 1970-01-01T00:00:00Z, a safe integer. */
  readonly timeMicros: number
  /** 1 to 64 leaf hashes of 32 bytes, one after the other. */
  readonly leaves: Uint8Array
  /** 64 bytes: Ed25519 over {@link sealNoteText}. */
  readonly signature: Uint8Array
}

export type SealStatement = {
  readonly logName: string
  readonly sealId: string
  readonly leafCount: number
  readonly timeMicros: number
  readonly root: Uint8Array
}

export type SealInput = {
  readonly logName: string
  readonly keyId: string
  readonly sealId: string
  readonly timeMicros: number
  /** 1 to 64 record hashes of 32 bytes, in leaf order. */
  readonly recordHashes: readonly Uint8Array[]
  /** One salt of 16 random bytes for each hash. */
  readonly salts: readonly Uint8Array[]
}

const leafPrefix = concatBytes(Uint8Array.of(0), utf8('orghub/leaf/v1\0'))

/**
 * Returns the input of a leaf's hash: 0x00 ‖ "orghub/leaf/v1\0" ‖ salt (16) ‖ record hash (32). Throws
 * `seal-malformed`.
 */
export function leafHashInput(salt: Uint8Array, recordHash: Uint8Array): Uint8Array {
  requireLeafParts(salt, recordHash)
  return concatBytes(leafPrefix, salt, recordHash)
}

function requireLeafParts(salt: Uint8Array, recordHash: Uint8Array): void {
  if (salt.length !== 16) throw new ProvenanceError('seal-malformed', 'a salt has 16 bytes')
  if (recordHash.length !== 32) throw new ProvenanceError('seal-malformed', 'a record hash has 32 bytes')
}

// Reused, because making a buffer for each leaf takes longer than hashing it.
const leafScratch = concatBytes(leafPrefix, new Uint8Array(16 + 32))

/** Returns the leaf of a record. The salt keeps a leaf that outlives its record from revealing the record's content. */
export function leafHash(salt: Uint8Array, recordHash: Uint8Array, sha256: Sha256): Uint8Array {
  requireLeafParts(salt, recordHash)
  leafScratch.set(salt, leafPrefix.length)
  leafScratch.set(recordHash, leafPrefix.length + 16)
  return sha256(leafScratch)
}

/** Returns whether a leaf is the one of a record; false, too, if salt or hash have a wrong length. */
export function isLeafOf(leaf: Uint8Array, salt: Uint8Array, recordHash: Uint8Array, sha256: Sha256): boolean {
  return salt.length === 16 && recordHash.length === 32 && equalBytes(leaf, leafHash(salt, recordHash, sha256))
}

/**
 * Returns the text to sign for a seal. Its first line distinguishes it from every other note, its second from a
 * tlog-checkpoint, whose second line is a number.
 */
export function sealNoteText({ logName, sealId, leafCount, timeMicros, root }: SealStatement): string {
  return `orghub/seal/v1\nlog ${logName}\nseal ${sealId}\ntime ${timeMicros}\nleaves ${leafCount}\nroot ${toBase64(root)}\n`
}

/** `sign` is Ed25519 with the log's private key. */
export type SealCrypto = { readonly sha256: Sha256; readonly sign: (message: Uint8Array) => Uint8Array }

/** Seals 1 to 64 records with one signature. Throws `seal-malformed`, or `encoding-malformed` for an id. */
export function buildSeal(input: SealInput, crypto: SealCrypto): Seal {
  return sealAndTree(input, crypto).seal
}

/** Works like {@link buildSeal}, and returns the levels of its tree, too, leaves first. */
export function sealAndTree(input: SealInput, crypto: SealCrypto): { seal: Seal; levels: Uint8Array[][] } {
  const { logName, keyId, sealId, timeMicros, recordHashes, salts } = input
  const leafCount = recordHashes.length
  requireSealHead(input)
  if (leafCount < 1 || leafCount > sealSizeMax || salts.length !== leafCount) {
    throw new ProvenanceError('seal-malformed', `a seal has 1 to ${sealSizeMax} records, each with its salt`)
  }
  const leaves = recordHashes.map((hash, i) => leafHash(salts[i]!, hash, crypto.sha256))
  const levels = treeLevels(leaves, crypto.sha256)
  const root = levels.at(-1)![0]!
  const signature = crypto.sign(utf8(sealNoteText({ logName, sealId, leafCount, timeMicros, root })))
  if (signature.length !== 64) throw new ProvenanceError('seal-malformed', 'an Ed25519 signature has 64 bytes')
  return { seal: { sealId, keyId, timeMicros, leaves: concatBytes(...leaves), signature }, levels }
}

function requireSealHead({ logName, keyId, sealId, timeMicros }: SealInput): void {
  if (!isKeyName(logName)) throw new ProvenanceError('seal-malformed', 'the log name is not a key name')
  if (fromHex(keyId).length !== 16) throw new ProvenanceError('seal-malformed', 'a key id has 32 hexadecimal digits')
  uuidToBytes(sealId)
  if (!Number.isSafeInteger(timeMicros) || timeMicros < 0) {
    throw new ProvenanceError('seal-malformed', 'the time is not a whole number of microseconds since 1970')
  }
}

/** Returns the leaves, upper nodes and root of a stored seal's tree. Throws `seal-malformed`. */
export function sealTree(
  seal: Seal,
  sha256: Sha256,
): { leaves: Uint8Array[]; upperNodes: Uint8Array; root: Uint8Array } {
  const leaves = leavesOfSeal(seal)
  const levels = treeLevels(leaves, sha256)
  return { leaves, upperNodes: upperNodesOf(levels), root: levels.at(-1)![0]! }
}

/** Returns the leaf hashes of a seal, as views of its bytes. Throws `seal-malformed`. */
export function leavesOfSeal(seal: Seal): Uint8Array[] {
  const { leaves } = seal
  if (leaves.length === 0 || leaves.length % 32 !== 0 || leaves.length > 32 * sealSizeMax) {
    throw new ProvenanceError('seal-malformed', `a seal has 1 to ${sealSizeMax} leaves of 32 bytes`)
  }
  return Array.from({ length: leaves.length / 32 }, (_, i) => leaves.subarray(32 * i, 32 * i + 32))
}
