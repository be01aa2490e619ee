import type { SealedRow, StoredSeal } from '../../../records/record-rows.ts'

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
