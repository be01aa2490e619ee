import { bytesToUuid, fromBase64Url, fromHex, type Sha256, toBase64Url, toHex, uuidToBytes } from './bytes.ts'
import { ProvenanceError } from './errors.ts'
import { inclusionPathLength, pathInLevels, treeLevels } from './merkle.ts'
import { leavesOfSeal, type Seal, type SealCrypto, type SealInput, sealAndTree, sealSizeMax } from './seal.ts'
import { upperNodesOf } from './upper-nodes.ts'

/** A record's share of a seal. With the record and the public key it suffices for verification. */
export type Cosign = {
  /** 32 hexadecimal digits. */
  readonly keyId: string
  /** Lowercase UUID. */
  readonly sealId: string
  /** Microseconds since 1970-01-01T00:00:00Z. */
  readonly timeMicros: number
  readonly leafCount: number
  readonly leafIndex: number
  /** 16 bytes. */
  readonly salt: Uint8Array
  /** 64 bytes. */
  readonly signature: Uint8Array
  /** 0 to 6 hashes of 32 bytes, from the leaf's sibling upwards. */
  readonly path: readonly Uint8Array[]
}

const prefix = 'omhc1.'
const version = 1

// Offsets of the binary form; docs/provenance.md has the same table.
const keyIdAt = 1
const sealIdAt = 17
const timeAt = 33
const leafCountAt = 41
const leafIndexAt = 42
const saltAt = 43
const signatureAt = 59
const pathAt = 123
const textLengthMax = prefix.length + Math.ceil(((pathAt + 6 * 32) * 4) / 3)

/** Returns the `provenance_cosign` of a record. Throws `cosign-malformed`, or `encoding-malformed` for an id. */
export function encodeCosign(cosign: Cosign): string {
  const { keyId, sealId, salt, leafIndex, path } = cosign
  if (salt.length !== 16 || path.some((hash) => hash.length !== 32))
    throw malformed('salt or path has the wrong length')
  requirePosition(cosign.leafCount, leafIndex, path.length)
  const key = fromHex(keyId)
  if (key.length !== 16) throw malformed('the key id has not 32 digits')
  return encode(head({ ...cosign, key, seal: uuidToBytes(sealId) }), leafIndex, salt, path)
}

/**
 * Reads a `provenance_cosign`. Throws `cosign-malformed` unless it is byte for byte what {@link encodeCosign} writes.
 */
export function decodeCosign(text: string): Cosign {
  if (!text.startsWith(prefix)) throw malformed(`does not begin with ${prefix}`)
  if (text.length > textLengthMax) throw malformed('is too long')
  return readCosign(decode(text.slice(prefix.length)))
}

/** Returns the fields of a cosign's binary form, as views of it. Throws `cosign-malformed`. */
export function readCosign(bytes: Uint8Array): Cosign {
  if (bytes[0] !== undefined && bytes[0] !== version) {
    throw new ProvenanceError('cosign-version-unsupported', `the cosignature has version ${bytes[0]}, not ${version}`)
  }
  if (bytes.length < pathAt) throw malformed('is too short')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const time = view.getBigUint64(timeAt)
  if (time > BigInt(Number.MAX_SAFE_INTEGER)) throw malformed('has a time out of range')
  const leafCount = view.getUint8(leafCountAt)
  const leafIndex = view.getUint8(leafIndexAt)
  const pathLength = (bytes.length - pathAt) / 32
  requirePosition(leafCount, leafIndex, pathLength)
  return {
    keyId: toHex(bytes.subarray(keyIdAt, sealIdAt)),
    sealId: bytesToUuid(bytes.subarray(sealIdAt, timeAt)),
    timeMicros: Number(time),
    leafCount,
    leafIndex,
    salt: bytes.subarray(saltAt, signatureAt),
    signature: bytes.subarray(signatureAt, pathAt),
    path: Array.from({ length: pathLength }, (_, i) => bytes.subarray(pathAt + 32 * i, pathAt + 32 * i + 32)),
  }
}

/**
 * Builds a seal, the cosigns of its records in leaf order, and the upper nodes and root of its tree, which is computed
 * once. Throws the errors of `buildSeal`.
 */
export function sealRecords(
  input: SealInput,
  crypto: SealCrypto,
): { seal: Seal; cosigns: string[]; upperNodes: Uint8Array; root: Uint8Array } {
  const { seal, levels } = sealAndTree(input, crypto)
  return {
    seal,
    cosigns: encodeAll(seal, input.salts, levels),
    upperNodes: upperNodesOf(levels),
    root: levels.at(-1)![0]!,
  }
}

/**
 * Returns the cosigns of all records of a stored seal, in leaf order. Computes the tree once. Throws `seal-malformed`.
 */
export function cosignsOfSeal(seal: Seal, salts: readonly Uint8Array[], sha256: Sha256): string[] {
  const leaves = leavesOfSeal(seal)
  if (salts.length !== leaves.length || salts.some((salt) => salt.length !== 16)) {
    throw new ProvenanceError('seal-malformed', 'a seal has one salt of 16 bytes for each leaf')
  }
  return encodeAll(seal, salts, treeLevels(leaves, sha256))
}

function encodeAll(seal: Seal, salts: readonly Uint8Array[], levels: readonly Uint8Array[][]): string[] {
  const sealHead = headOfSeal(seal, salts.length)
  return salts.map((salt, leafIndex) => encode(sealHead, leafIndex, salt, pathInLevels(levels, leafIndex)))
}

/** Returns the cosign of one record of a seal. Throws `seal-malformed`. */
export function cosignOfLeaf(seal: Seal, leafIndex: number, salt: Uint8Array, sha256: Sha256): string {
  const leaves = leavesOfSeal(seal)
  if (leaves[leafIndex] === undefined || salt.length !== 16) {
    throw new ProvenanceError('seal-malformed', `the seal has no leaf ${leafIndex} with a salt of 16 bytes`)
  }
  const path = pathInLevels(treeLevels(leaves, sha256), leafIndex)
  return encode(headOfSeal(seal, leaves.length), leafIndex, salt, path)
}

/**
 * Returns a function that makes the cosign of any record of a stored seal. Computes the tree once. Throws
 * `seal-malformed` for a malformed seal; the function throws it for an invalid index or salt.
 */
export function cosignerOfSeal(seal: Seal, sha256: Sha256): (leafIndex: number, salt: Uint8Array) => string {
  const leaves = leavesOfSeal(seal)
  const levels = treeLevels(leaves, sha256)
  const sealHead = headOfSeal(seal, leaves.length)
  return (leafIndex, salt) => {
    if (leaves[leafIndex] === undefined || salt.length !== 16) {
      throw new ProvenanceError('seal-malformed', `the seal has no leaf ${leafIndex} with a salt of 16 bytes`)
    }
    return encode(sealHead, leafIndex, salt, pathInLevels(levels, leafIndex))
  }
}

type Head = {
  readonly key: Uint8Array
  readonly seal: Uint8Array
  readonly timeMicros: number
  readonly leafCount: number
  readonly signature: Uint8Array
}

function headOfSeal(seal: Seal, leafCount: number): Uint8Array {
  const { keyId, sealId, timeMicros, signature } = seal
  return head({ key: fromHex(keyId), seal: uuidToBytes(sealId), timeMicros, leafCount, signature })
}

/** Returns the first 123 bytes, which are equal in all cosigns of a seal except for leaf index and salt. */
function head({ key, seal, timeMicros, leafCount, signature }: Head): Uint8Array {
  if (!Number.isSafeInteger(timeMicros) || timeMicros < 0) throw malformed('has a time out of range')
  if (signature.length !== 64 || key.length !== 16) throw malformed('signature or key id has the wrong length')
  const bytes = new Uint8Array(pathAt)
  bytes[0] = version
  bytes.set(key, keyIdAt)
  bytes.set(seal, sealIdAt)
  new DataView(bytes.buffer).setBigUint64(timeAt, BigInt(timeMicros))
  bytes[leafCountAt] = leafCount
  bytes.set(signature, signatureAt)
  return bytes
}

// Reused for each record of a seal.
const encodeScratch = new Uint8Array(pathAt + 6 * 32)

function encode(sealHead: Uint8Array, leafIndex: number, salt: Uint8Array, path: readonly Uint8Array[]): string {
  encodeScratch.set(sealHead)
  encodeScratch[leafIndexAt] = leafIndex
  encodeScratch.set(salt, saltAt)
  for (let i = 0; i < path.length; i++) encodeScratch.set(path[i]!, pathAt + 32 * i)
  return prefix + toBase64Url(encodeScratch.subarray(0, pathAt + 32 * path.length))
}

function decode(text: string): Uint8Array {
  try {
    return fromBase64Url(text)
  } catch (error) {
    throw malformed(error instanceof Error ? error.message : String(error))
  }
}

function requirePosition(leafCount: number, leafIndex: number, pathLength: number): void {
  if (!Number.isInteger(leafCount) || leafCount < 1 || leafCount > sealSizeMax)
    throw malformed(`has ${leafCount} leaves`)
  if (!Number.isInteger(leafIndex) || leafIndex < 0 || leafIndex >= leafCount)
    throw malformed(`has no leaf ${leafIndex}`)
  if (pathLength !== inclusionPathLength(leafIndex, leafCount)) throw malformed('has a path of the wrong length')
}

function malformed(problem: string): ProvenanceError {
  return new ProvenanceError('cosign-malformed', `the cosignature ${problem}`)
}
