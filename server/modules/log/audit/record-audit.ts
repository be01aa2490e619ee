import { leafHash, recordHash } from '../../../../provenance/index.ts'
import type { TenantTx } from '../../../db/database.ts'
import { logCrypto } from '../log-crypto.ts'
import type { LogEntry } from '../log-types.ts'
import {
  findErased,
  findRecordHeads,
  findTexts,
  findTombstones,
  type RecordHead,
  type Tombstone,
} from './audit-store.ts'
import type { AuditFailure } from './audit-types.ts'
import { readDestructions } from './destruction-audit.ts'

/** Maximum size in bytes of texts that are read at once. */
const textBytesMax = 4 * 1024 * 1024

export interface RecordCounts {
  records: number
  erased: number
}

/**
 * Compares stored records, and the tombstones of erased ones, with the leaves of their seals. Each leaf must have
 * exactly one of them, and each of them must have a leaf.
 *
 * @param leavesOf the leaves of each readable seal, by its id
 */
export async function auditRecords(
  tx: TenantTx,
  entries: readonly LogEntry[],
  leavesOf: ReadonlyMap<string, readonly Uint8Array[]>,
  report: (failure: AuditFailure) => void,
): Promise<RecordCounts> {
  const fail = (at: string, reason: string) => report({ at, reason })
  const known = entries.filter((entry) => leavesOf.has(entry.sealId))
  const heads = await findRecordHeads(tx, known)
  const tombstones = await findTombstones(
    tx,
    known.map((entry) => entry.sealId),
  )
  const claims = new Claims()
  const counts: RecordCounts = { records: 0, erased: 0 }

  for (const chunk of inChunks(heads)) {
    const texts = await findTexts(
      tx,
      chunk.map((head) => head.record_id),
    )
    const erased = await readDestructions(tx, texts)
    for (const head of chunk) {
      const leaves = leavesOf.get(head.seal_id)!
      const problem = erased.keyOf(head)
        ? erased.problemOf(head, leaves)
        : problemOf(tx.tenantId, head, texts.get(head.record_id), leaves)
      const other = claims.record(head, problem === undefined)
      if (problem !== undefined) fail(`record:${head.record_id}`, problem)
      else if (other !== undefined) fail(`record:${head.record_id}`, `it claims the leaf of record ${other}`)
      else if (erased.keyOf(head)) counts.erased += 1
      else counts.records += 1
    }
  }

  const evidence = await readEvidence(tx, tombstones)
  for (const tombstone of tombstones) {
    const leaf = leavesOf.get(tombstone.seal_id)![tombstone.leaf_index]
    const there = claims.of(tombstone.seal_id, tombstone.leaf_index)
    const problem = leaf
      ? evidence.problemOf(tombstone, leaf)
      : 'its tombstone names a leaf that its seal does not have'
    if (problem !== undefined) fail(`record:${tombstone.record_id}`, problem)
    else if (there !== undefined) fail(`record:${there}`, 'it was erased, but exists again')
    else counts.erased += 1
    claims.tombstone(tombstone)
  }

  for (const { sealId } of known) {
    leavesOf.get(sealId)!.forEach((_, leafIndex) => {
      if (!claims.has(sealId, leafIndex)) fail(`seal:${sealId}`, `the record of its leaf ${leafIndex} is missing`)
    })
  }
  return counts
}

/** Tracks the record or tombstone that claims each leaf. */
class Claims {
  /** Records that agree with their leaf, by leaf. */
  readonly #records = new Map<string, string>()
  /** Leaves that a record or tombstone claims, valid or not. */
  readonly #taken = new Set<string>()

  /** Adds a record. Returns the id of another record that already claims the same leaf, if any. */
  record({ seal_id, leaf_index, record_id }: RecordHead, isSound: boolean): string | undefined {
    const place = `${seal_id} ${leaf_index}`
    this.#taken.add(place)
    const before = this.#records.get(place)
    if (before === undefined && isSound) this.#records.set(place, record_id)
    return before
  }

  tombstone({ seal_id, leaf_index }: Tombstone): void {
    this.#taken.add(`${seal_id} ${leaf_index}`)
  }

  of(sealId: string, leafIndex: number): string | undefined {
    return this.#records.get(`${sealId} ${leafIndex}`)
  }

  has(sealId: string, leafIndex: number): boolean {
    return this.#taken.has(`${sealId} ${leafIndex}`)
  }
}

function problemOf(
  tenantId: string,
  head: RecordHead,
  text: string | undefined,
  leaves: readonly Uint8Array[],
): string | undefined {
  const leaf = leaves[head.leaf_index]
  if (leaf === undefined) return `seal ${head.seal_id} has no leaf ${head.leaf_index}`
  if (text === undefined) return 'it vanished while it was read'
  if (head.salt.length !== 16) return 'its salt was changed'
  const hash = recordHash(text, logCrypto.sha256)
  if (Buffer.compare(leafHash(head.salt, hash, logCrypto.sha256), leaf) !== 0) {
    return 'it is not the record that was sealed: its text or its salt was changed, or its place'
  }
  if (Buffer.compare(hash, head.provenance_hash) !== 0) return 'its stored hash is not that of its text'
  // The text agrees with its leaf, so it is valid JSON.
  const sealed: Partial<Record<string, unknown>> = JSON.parse(text)
  if (sealed.record_id !== head.record_id) return `its text is that of record ${sealed.record_id}`
  return sealed.tenant_id === tenantId ? undefined : 'its text is that of another tenant'
}

function* inChunks(heads: readonly RecordHead[]): Generator<RecordHead[]> {
  let chunk: RecordHead[] = []
  let bytes = 0
  for (const head of heads) {
    if (chunk.length > 0 && bytes + head.text_bytes > textBytesMax) {
      yield chunk
      chunk = []
      bytes = 0
    }
    chunk.push(head)
    bytes += head.text_bytes
  }
  if (chunk.length > 0) yield chunk
}

/** Reads the governance events of erasures. They are records of the log themselves, and audited as such. */
async function readEvidence(tx: TenantTx, tombstones: readonly Tombstone[]) {
  const eventIds = tombstones.map((tombstone) => tombstone.event_id)
  const texts = await findTexts(tx, eventIds)
  const erased = await findErased(tx, eventIds)
  return {
    problemOf({ record_id, event_id }: Tombstone, leaf: Uint8Array): string | undefined {
      const text = texts.get(event_id)
      // The event itself was erased, with its own evidence.
      if (text === undefined && erased.has(event_id)) return undefined
      if (text === undefined) return `the event ${event_id} of its erasure is missing`
      return matchesErasure(text, record_id, leaf) ? undefined : `the event ${event_id} does not record its erasure`
    },
  }
}

function matchesErasure(text: string, recordId: string, leaf: Uint8Array): boolean {
  let event: Partial<Record<string, unknown>>
  try {
    event = JSON.parse(text)
  } catch {
    return false
  }
  const details = event.details as { leaf_hash?: unknown } | undefined
  const recorded = typeof details?.leaf_hash === 'string' ? details.leaf_hash : undefined
  return (
    event.record_type === 'governance_event' &&
    event.created_by === 'service:hub' &&
    event.event_kind === 'hub.record_hard_deleted' &&
    event.subject === `record:${recordId}` &&
    (recorded === undefined ||
      recorded === Buffer.from(leaf).toString('base64') ||
      recorded === Buffer.from(leaf).toString('hex'))
  )
}
