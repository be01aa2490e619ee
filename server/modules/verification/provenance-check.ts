import { equalBytes } from '../../../provenance/bytes.ts'
import {
  canonicalize,
  type JsonObject,
  ProvenanceError,
  recordHash,
  supportedSchemaVersions,
} from '../../../provenance/index.ts'
import { openSeal } from '../../../provenance/log.ts'
import { isLeafOf } from '../../../provenance/seal.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import { indexColumnsOf } from '../../records/record-columns.ts'
import { sealOf } from '../../records/record-cosign.ts'
import { parseCanonical } from '../../records/record-response.ts'
import type { SealedRow, StoredSeal } from '../../records/record-rows.ts'

/**
 * The input of a page's verification, in a form that is cheap to pass to another thread: few arrays of texts. Bytes are
 * texts too (`latin1`), because a view is copied with its whole underlying buffer.
 */
export interface VerificationTask {
  records: {
    canonical: string[]
    /** In hexadecimal digits, like the salt. */
    provenanceHash: string[]
    salt: string[]
    leafIndex: number[]
    /** The index of the record's seal in `seals`, or -1. */
    seal: number[]
    recordId: string[]
    recordType: string[]
    tenantId: string[]
    createdBy: string[]
    skillId: (string | null)[]
    archetypeId: (string | null)[]
    userId: (string | null)[]
    eventKind: (string | null)[]
    costMicros: (string | null)[]
    traceId: (string | null)[]
    sessionId: (string | null)[]
    /** Stored targets of the record's links. */
    links: (readonly string[])[]
  }
  seals: {
    sealId: string[]
    keyId: string[]
    sealedAt: string[]
    leaves: string[]
    upperNodes: (string | null)[]
    signature: string[]
  }
  keys: { keyId: string; name: string; publicKey: string }[]
}

/** The flags of a record's passed checks. */
export const passed = { hash: 1, cosign: 2, schemaVersion: 4 } as const
export const passedAll = passed.hash | passed.cosign | passed.schemaVersion

type Records = VerificationTask['records']

/**
 * Verifies stored records: the hash and cosignature of the canonical bytes, and that every stored copy of their values
 * (index columns, links, the leaf in the seal) agrees with them. Builds each tree and checks each signature once. Never
 * throws because of stored data.
 *
 * @returns for each record the sum of the checks that it passed
 */
export function checkRecords(task: VerificationTask): Uint8Array {
  const leavesOfSeals = provenLeaves(task)
  const { records } = task
  return Uint8Array.from(records.canonical, (canonical, at) => {
    const leaves = leavesOfSeals[records.seal[at]!]
    const storedHash = Buffer.from(records.provenanceHash[at]!, 'hex')
    const leaf = leaves?.[records.leafIndex[at]!]
    const salt = Buffer.from(records.salt[at]!, 'hex')
    const isCosigned = leaf !== undefined && isLeafOf(leaf, salt, storedHash, nodeCrypto.sha256)
    const members = parseCanonical(canonical)
    const isHashed = equalBytes(recordHash(canonical, nodeCrypto.sha256), storedHash)
    // Bytes that the service hashed and signed were canonical. Only other bytes need the costlier comparison.
    const isReadable = members !== undefined && ((isHashed && isCosigned) || isCanonical(canonical, members))
    const isIntact = isReadable && isHashed && columnsAgree(records, at, members) && linksAgree(records, at, members)
    return (
      (isIntact ? passed.hash : 0) |
      (isCosigned ? passed.cosign : 0) |
      (isReadable && hasKnownVersion(members) ? passed.schemaVersion : 0)
    )
  })
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

/**
 * Returns the leaves of each seal that a known key signed over their root; undefined for any other seal. A record's
 * cosignature is its leaf, the path up to that root and the signature, so it verifies if, and only if, the seal
 * contains the record's leaf.
 */
function provenLeaves({ seals, keys }: VerificationTask): (readonly Uint8Array[] | undefined)[] {
  const keyRing = new Map(keys.map((key) => [key.keyId, { name: key.name, publicKey: bytesOf(key.publicKey) }]))
  return seals.sealId.map((sealId, at) => {
    const key = keyRing.get(seals.keyId[at]!)
    const upperNodes = seals.upperNodes[at]!
    const seal = sealOf({
      seal_id: sealId,
      key_id: seals.keyId[at]!,
      sealed_at: seals.sealedAt[at]!,
      leaves: bytesOf(seals.leaves[at]!),
      upper_nodes: upperNodes === null ? null : bytesOf(upperNodes),
      signature: bytesOf(seals.signature[at]!),
    })
    if (key === undefined || seal === undefined) return undefined
    return unlessMalformed(() => {
      const opened = openSeal(seal, key.name, nodeCrypto.sha256)
      // Responses build the cosignature from these nodes.
      if (upperNodes !== null && !equalBytes(bytesOf(upperNodes), opened.upperNodes)) return undefined
      const isSigned = nodeCrypto.verifyEd25519(key.publicKey, Buffer.from(opened.text), seal.signature)
      return isSigned ? opened.leaves : undefined
    })
  })
}

/** Checks for the canonical form. A client that parses and re-serializes any other text computes another hash. */
function isCanonical(text: string, members: JsonObject): boolean {
  return unlessMalformed(() => canonicalize(members)) === text
}

function hasKnownVersion(members: JsonObject): boolean {
  const version = Object.hasOwn(members, 'schema_version') ? members.schema_version : undefined
  return typeof version === 'string' && supportedSchemaVersions.includes(version)
}

function columnsAgree(records: Records, at: number, members: JsonObject): boolean {
  const type = records.recordType[at]!
  const columns = indexColumnsOf(type, members)
  return (
    members.record_id === records.recordId[at] &&
    members.record_type === type &&
    members.tenant_id === records.tenantId[at] &&
    members.created_by === records.createdBy[at] &&
    columns.skillId === records.skillId[at] &&
    columns.archetypeId === records.archetypeId[at] &&
    columns.userId === records.userId[at] &&
    columns.eventKind === records.eventKind[at] &&
    columns.traceId === records.traceId[at] &&
    columns.sessionId === records.sessionId[at] &&
    (columns.costMicros === null ? null : String(columns.costMicros)) === records.costMicros[at]
  )
}

function linksAgree(records: Records, at: number, members: JsonObject): boolean {
  const named = members.related_records
  const stored = records.links[at]!
  if (!Array.isArray(named) || named.length !== stored.length) return false
  const targets = new Set<unknown>(named)
  return stored.every((target) => targets.has(target))
}

function unlessMalformed<Result>(compute: () => Result): Result | undefined {
  try {
    return compute()
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}

/** The stored data, besides the records' own rows, that another thread compares. */
export interface TaskEvidence {
  seals: readonly StoredSeal[]
  /** Stored targets of each record's links. */
  links: ReadonlyMap<string, readonly string[]>
}

interface PublicKey {
  keyId: string
  name: string
  publicKey: Uint8Array
}

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

export function taskOf(
  rows: readonly SealedRow[],
  { seals, links }: TaskEvidence,
  keys: readonly PublicKey[],
): VerificationTask {
  const placeOfSeal = new Map(seals.map((seal, place) => [seal.seal_id, place]))
  return {
    records: {
      canonical: rows.map((row) => row.canonical),
      provenanceHash: rows.map((row) => row.provenance_hash),
      salt: rows.map((row) => row.salt),
      leafIndex: rows.map((row) => row.leaf_index),
      seal: rows.map((row) => placeOfSeal.get(row.seal_id) ?? -1),
      recordId: rows.map((row) => row.record_id),
      recordType: rows.map((row) => row.record_type),
      tenantId: rows.map((row) => row.tenant_id),
      createdBy: rows.map((row) => row.created_by),
      skillId: rows.map((row) => row.skill_id),
      archetypeId: rows.map((row) => row.archetype_id),
      userId: rows.map((row) => row.user_id),
      eventKind: rows.map((row) => row.event_kind),
      costMicros: rows.map((row) => row.cost_micros),
      traceId: rows.map((row) => row.trace_id),
      sessionId: rows.map((row) => row.session_id),
      links: rows.map((row) => links.get(row.record_id) ?? []),
    },
    seals: {
      sealId: seals.map((seal) => seal.seal_id),
      keyId: seals.map((seal) => seal.key_id),
      sealedAt: seals.map((seal) => seal.sealed_at),
      leaves: seals.map((seal) => latin1(seal.leaves)),
      upperNodes: seals.map((seal) => seal.upper_nodes && latin1(seal.upper_nodes)),
      signature: seals.map((seal) => latin1(seal.signature)),
    },
    keys: keys.map(({ keyId, name, publicKey }) => ({ keyId, name, publicKey: latin1(publicKey) })),
  }
}

/** Returns the UTF-16 units of the longest texts in a task, a measure of its memory. */
export function sizeOf({ records, seals }: VerificationTask): number {
  const lengthOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0)
  return lengthOf(records.canonical) + lengthOf(seals.leaves)
}
