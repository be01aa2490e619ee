import { recordHash } from '../../../../provenance/index.ts'
import { isJsonObject, type JsonObject } from '../../../../provenance/json.ts'
import type { CheckedEntry } from '../../../../provenance/log-verifier.ts'
import { isLeafOf } from '../../../../provenance/seal.ts'
import { isSaltOfContent } from '../../../db/content-salt.ts'
import type { DestroyedKey, TenantTx } from '../../../db/database.ts'
import { isCiphertext } from '../../../db/record-encryption.ts'
import { nodeCrypto } from '../../../records/node-crypto.ts'
import type { LogEntry } from '../log-types.ts'
import { findErased, findTexts, type RecordHead, type Tombstone } from './audit-store.ts'

/** Maximum size in bytes of texts that are read at once. */
const textBytesMax = 4 * 1024 * 1024

export type LeafClaim = RecordHead | Tombstone

type Leaves = readonly Uint8Array[]

/**
 * Compares stored records, and the tombstones of erased ones, with the leaves of their seals. Each leaf must have
 * exactly one of them, and each of them must have a leaf.
 *
 * @returns the number of records, and of leaves of erased records, without a failure
 */
export async function auditRecords(
  tx: TenantTx,
  entries: readonly CheckedEntry<LogEntry, LeafClaim>[],
  { heads, tombstones }: { heads: readonly RecordHead[]; tombstones: readonly Tombstone[] },
  fail: (at: string, reason: string) => void,
): Promise<{ records: number; erased: number }> {
  const leavesOf = new Map(entries.map(({ entry, leaves }) => [entry.sealId, leaves]))
  const sound = new Map<LeafClaim, 'records' | 'erased'>()
  const judge = (claim: LeafClaim, isErased: boolean, problem: string | undefined) => {
    if (problem === undefined) sound.set(claim, isErased ? 'erased' : 'records')
    else fail(`record:${claim.record_id}`, problem)
  }

  for (const chunk of inChunks(heads)) {
    const ids = chunk.map((head) => head.record_id)
    const texts = await findTexts(tx, ids)
    const destroyed = await readDestructions(tx, texts)
    for (const head of chunk) {
      const leaves = leavesOf.get(head.seal_id)
      if (leaves === undefined) continue
      const key = destroyed.keys.get(head.record_id)
      const problem = key
        ? destroyedProblem(tx.tenantId, head, leaves, key, destroyed.events)
        : recordProblem(tx.tenantId, head, texts.get(head.record_id), leaves)
      judge(head, key !== undefined, problem)
    }
  }
  const evidence = await readErasures(tx, tombstones)
  for (const tombstone of tombstones) {
    const leaves = leavesOf.get(tombstone.seal_id)
    if (leaves) judge(tombstone, true, erasureProblem(tombstone, leaves[tombstone.leaf_index], evidence))
  }

  for (const { entry, contested, unclaimed } of entries) {
    for (const claims of contested) {
      const [first, ...others] = claims.filter((claim) => sound.has(claim))
      for (const other of others) {
        if (isTombstone(other) && !isTombstone(first!))
          fail(`record:${first!.record_id}`, 'it was erased, but exists again')
        else fail(`record:${other.record_id}`, `it claims the leaf of record ${first!.record_id}`)
        sound.delete(other)
      }
    }
    for (const leaf of unclaimed) fail(`seal:${entry.sealId}`, `the record of its leaf ${leaf} is missing`)
  }
  const count = (kind: 'records' | 'erased') => [...sound.values()].filter((each) => each === kind).length
  return { records: count('records'), erased: count('erased') }
}

const isTombstone = (claim: LeafClaim) => 'event_id' in claim

function recordProblem(
  tenantId: string,
  head: RecordHead,
  text: string | undefined,
  leaves: Leaves,
): string | undefined {
  const leaf = leaves[head.leaf_index]
  if (leaf === undefined) return `seal ${head.seal_id} has no leaf ${head.leaf_index}`
  if (text === undefined) return 'it disappeared while it was read'
  if (head.salt.length !== 16) return 'its salt was changed'
  const hash = recordHash(text, nodeCrypto.sha256)
  if (!isLeafOf(leaf, head.salt, hash, nodeCrypto.sha256)) {
    return 'it is not the sealed record: its text, salt or position was changed'
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

/** Finds the texts whose key was destroyed, and the texts of the governance events that record it. */
async function readDestructions(tx: TenantTx, texts: ReadonlyMap<string, string>) {
  const keys = new Map<string, DestroyedKey>()
  for (const [recordId, text] of texts) {
    const key = isCiphertext(text) ? tx.contents.destroyedKeyOf(tx.tenantId, text) : undefined
    if (key) keys.set(recordId, key)
  }
  const eventIds = new Set([...keys.values()].flatMap((key) => key.eventId ?? []))
  return { keys, events: eventIds.size === 0 ? new Map<string, string>() : await findTexts(tx, [...eventIds]) }
}

function destroyedProblem(
  tenantId: string,
  head: RecordHead,
  leaves: Leaves,
  { keyId, eventId }: DestroyedKey,
  events: ReadonlyMap<string, string>,
): string | undefined {
  const leaf = leaves[head.leaf_index]
  if (leaf === undefined) return `seal ${head.seal_id} has no leaf ${head.leaf_index}`
  if (head.salt.length !== 16 || head.provenance_hash.length !== 32) return 'its salt or its hash was changed'
  if (!isLeafOf(leaf, head.salt, head.provenance_hash, nodeCrypto.sha256)) {
    return 'its content was lost with its key, and its stored hash or salt is not the sealed one'
  }
  // The salt is part of the leaf, unlike the columns.
  if (!isSaltOfContent(head.salt, tenantId, keyId)) return `it was not sealed as a text under the key ${keyId}`
  const event = serviceEvent(events.get(eventId ?? ''), 'cmek.key_destroyed', `tenant:${tenantId}`)
  if (Array.isArray(event?.key_ids) && event.key_ids.includes(keyId)) return undefined
  return `its content cannot be decrypted, and no event records that its key ${keyId} was destroyed`
}

/** Reads the governance events of erasures. They are records of the log themselves, and audited as such. */
async function readErasures(tx: TenantTx, tombstones: readonly Tombstone[]) {
  const eventIds = tombstones.map((tombstone) => tombstone.event_id)
  return { texts: await findTexts(tx, eventIds), erased: await findErased(tx, eventIds) }
}

function erasureProblem(
  { record_id, event_id }: Tombstone,
  leaf: Uint8Array | undefined,
  { texts, erased }: Awaited<ReturnType<typeof readErasures>>,
): string | undefined {
  if (leaf === undefined) return 'its tombstone names a leaf that its seal does not have'
  const text = texts.get(event_id)
  // The event itself was erased, with its own evidence.
  if (text === undefined && erased.has(event_id)) return undefined
  if (text === undefined) return `the event ${event_id} of its erasure is missing`
  const event = serviceEvent(text, 'hub.record_hard_deleted', `record:${record_id}`)
  const { leaf_hash: recorded } = event ?? {}
  const hash = Buffer.from(leaf)
  const names =
    typeof recorded !== 'string' || recorded === hash.toString('base64') || recorded === hash.toString('hex')
  return event && names ? undefined : `the event ${event_id} does not record its erasure`
}

/** Returns the details of a governance event of the service; undefined for any other text. */
function serviceEvent(text: string | undefined, kind: string, subject: string): JsonObject | undefined {
  let event: unknown
  try {
    event = JSON.parse(text ?? '')
  } catch {
    return undefined
  }
  if (!isJsonObject(event) || event.record_type !== 'governance_event' || event.created_by !== 'service:hub') {
    return undefined
  }
  if (event.event_kind !== kind || event.subject !== subject) return undefined
  return isJsonObject(event.details) ? event.details : {}
}
