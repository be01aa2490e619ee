import { parseTimestamp } from '../../../contract/timestamp.ts'
import { toHex } from '../../../provenance/bytes.ts'
import {
  cosignOfLeaf,
  cosignsOfSeal,
  type JsonObject,
  type JsonValue,
  ProvenanceError,
  type Seal,
} from '../../../provenance/index.ts'
import { isJsonObject } from '../../../provenance/json.ts'
import { nodeCrypto } from './node-crypto.ts'
import type { StoredRecord, StoredSeal } from './record-query-types.ts'

/** A stored record as it is read back: parsed once, with the hash and cosignature of its answer. */
export interface ReadRecord {
  row: StoredRecord
  /** The canonical object, or undefined when the stored text is none. */
  members: JsonObject | undefined
  provenanceHash: string
  provenanceCosign: string
}

/** Stands in for a cosignature that cannot be rebuilt, because its seal was edited or is gone. Never verifies. */
const unknownCosign = 'omhc1.'

export function readRecords(rows: readonly StoredRecord[], seals: ReadonlyMap<string, StoredSeal>): ReadRecord[] {
  const cosigns = cosignsOf(rows, seals)
  return rows.map((row) => ({
    row,
    members: parseCanonical(row.canonical),
    provenanceHash: `sha256:${toHex(row.provenance_hash)}`,
    provenanceCosign: cosigns.get(row.record_id) ?? unknownCosign,
  }))
}

/**
 * The record as the API answers it: its canonical members, then what is not part of them. A record whose canonical
 * text was destroyed answers what the columns still say.
 */
export function answerOf({ row, members, provenanceHash, provenanceCosign }: ReadRecord): Record<string, JsonValue> {
  return {
    ...(members ?? { record_id: row.record_id, record_type: row.record_type, tenant_id: row.tenant_id }),
    is_purged: row.purged_at !== null,
    provenance_hash: provenanceHash,
    provenance_cosign: provenanceCosign,
  }
}

/** The seal as the provenance core takes it, or undefined when the stored values can be none. */
function sealOf(stored: StoredSeal): Seal | undefined {
  const sealedAt = parseTimestamp(stored.sealed_at.replace(' ', 'T').replace(/\+00$/, 'Z'))
  if (sealedAt === undefined) return undefined
  return {
    sealId: stored.seal_id,
    keyId: stored.key_id,
    timeMicros: sealedAt.epochMs * 1000 + sealedAt.microsOfMs,
    leaves: stored.leaves,
    signature: stored.signature,
  }
}

/** Cosignatures by record id. Records of one seal share its tree. */
function cosignsOf(rows: readonly StoredRecord[], seals: ReadonlyMap<string, StoredSeal>): Map<string, string> {
  const cosigns = new Map<string, string>()
  for (const [sealId, records] of Map.groupBy(rows, (row) => row.seal_id)) {
    const stored = seals.get(sealId)
    const seal = stored && sealOf(stored)
    if (seal === undefined) continue
    const together = records.length > 1 ? cosignsOfWholeSeal(seal, records) : undefined
    for (const record of records) {
      const cosign = together?.[record.leaf_index] ?? tryCosign(() => cosignOfOne(seal, record))
      if (cosign !== undefined) cosigns.set(record.record_id, cosign)
    }
  }
  return cosigns
}

const noSalt: Uint8Array = new Uint8Array(16)

/** All cosignatures of a seal in leaf order; those of records that are not given are of no use. */
function cosignsOfWholeSeal(seal: Seal, records: readonly StoredRecord[]): string[] | undefined {
  const salts: Uint8Array[] = Array.from({ length: seal.leaves.length / 32 }, () => noSalt)
  for (const record of records) {
    // Two records in one place: one of them was edited, and each must get its own.
    if (salts[record.leaf_index] !== noSalt) return undefined
    salts[record.leaf_index] = record.salt
  }
  return tryCosign(() => cosignsOfSeal(seal, salts, nodeCrypto.sha256))
}

function cosignOfOne(seal: Seal, record: StoredRecord): string {
  return cosignOfLeaf(seal, record.leaf_index, record.salt, nodeCrypto.sha256)
}

function tryCosign<Result>(make: () => Result): Result | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}

function parseCanonical(canonical: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(canonical)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
