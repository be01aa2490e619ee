import { equalBytes } from '../../../../provenance/bytes.ts'
import { leafHash, ProvenanceError } from '../../../../provenance/index.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { DestroyedKey } from '../../../db/record-contents.ts'
import { nodeCrypto } from '../node-crypto.ts'
import { timeOfRecordId } from '../record-clock.ts'
import type { SealedRow } from '../sealed-records-types.ts'
import type { ToldEvent, ToldEvents } from '../told-events.ts'
import type { Finding } from './finding.ts'

/** Records whose texts are gone with their key, by id, and the verified events that tell of the destructions. */
export interface ErasedContents {
  keys: ReadonlyMap<string, DestroyedKey>
  events: ReadonlyMap<string, ToldEvent>
}

/** Clocks of two processes may differ: one may have written before another destroyed the key, with a later id. */
const skewMs = 60_000

export async function findErasedContents(
  tx: TenantTx,
  records: readonly SealedRow[],
  told: ToldEvents,
): Promise<ErasedContents> {
  const keys = new Map<string, DestroyedKey>()
  for (const { record_id, canonical } of records) {
    const key = canonical.startsWith('{') ? undefined : tx.contents.destroyedKeyOf(tx.tenantId, canonical)
    if (key) keys.set(record_id, key)
  }
  const eventIds = new Set([...keys.values()].map((key) => key.eventId))
  return { keys, events: keys.size === 0 ? new Map() : await told.find(tx, [...eventIds]) }
}

/**
 * Whether a text that cannot be opened was the service's to destroy: a verified event tells that its key was destroyed,
 * after it was written, and the hash that is left is the one that was sealed. Events of the service are never encrypted.
 *
 * @param leaf that of the record in its seal; undefined where the seal cannot be read
 */
export function checkErasedContent(
  tenantId: string,
  record: SealedRow,
  { keys, events }: ErasedContents,
  leaf: Uint8Array | undefined,
): Finding[] {
  const key = keys.get(record.record_id)!
  const event = events.get(key.eventId ?? '')
  const isProven =
    record.created_by !== 'service:hub' &&
    event?.kind === 'cmek.key_destroyed' &&
    event.subject === `tenant:${tenantId}` &&
    Array.isArray(event.details.key_ids) &&
    event.details.key_ids.includes(key.keyId) &&
    Date.parse(timeOfRecordId(record.record_id)) <= Date.parse(timeOfRecordId(event.eventId)) + skewMs
  if (isProven && (leaf === undefined || hasLeaf(record, leaf))) return []
  return [
    {
      subject: `record:${record.record_id}`,
      failedChecks: ['content_erasure_proven'],
      found: { seal: record.seal_id, leaf_index: record.leaf_index, key: key.keyId, event: key.eventId },
    },
  ]
}

function hasLeaf({ salt, provenance_hash }: SealedRow, leaf: Uint8Array): boolean {
  try {
    const own = leafHash(Buffer.from(salt, 'hex'), Buffer.from(provenance_hash, 'hex'), nodeCrypto.sha256)
    return equalBytes(own, leaf)
  } catch (error) {
    if (error instanceof ProvenanceError) return false
    throw error
  }
}
