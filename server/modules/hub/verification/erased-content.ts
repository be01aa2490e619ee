import { equalBytes } from '../../../../provenance/bytes.ts'
import { leafHash, ProvenanceError } from '../../../../provenance/index.ts'
import { isSaltOfContent } from '../../../db/content-salt.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { DestroyedKey } from '../../../db/record-encryption.ts'
import { nodeCrypto } from '../../../records/node-crypto.ts'
import type { SealedRow } from '../../../records/record-rows.ts'
import type { Finding } from '../integrity-sweep/finding.ts'
import type { VerifiedEvent, VerifiedEvents } from './verified-events.ts'

/**
 * Holds the keys of records whose content was destroyed, by record id, and the verified events that record the
 * destructions.
 */
export interface ErasedContents {
  keys: ReadonlyMap<string, DestroyedKey>
  events: ReadonlyMap<string, VerifiedEvent>
}

export async function findErasedContents(
  tx: TenantTx,
  records: readonly SealedRow[],
  verifiedEvents: VerifiedEvents,
): Promise<ErasedContents> {
  const keys = new Map<string, DestroyedKey>()
  for (const { record_id, canonical } of records) {
    const key = canonical.startsWith('{') ? undefined : tx.contents.destroyedKeyOf(tx.tenantId, canonical)
    if (key) keys.set(record_id, key)
  }
  const eventIds = new Set([...keys.values()].map((key) => key.eventId))
  return { keys, events: keys.size === 0 ? new Map() : await verifiedEvents.find(tx, [...eventIds]) }
}

/**
 * Checks that the service destroyed the unreadable text of a record, and returns a finding otherwise. A verified event
 * must record the destruction of its key, the remaining salt and hash must be the sealed ones, and the salt must belong
 * to a text under that key. So a destroyed key explains neither unreadable events of the service nor records under
 * another key, regardless of their columns.
 *
 * @param leaf the leaf of the record in its seal; undefined if the seal cannot be read
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
    event?.kind === 'cmek.key_destroyed' &&
    event.subject === `tenant:${tenantId}` &&
    Array.isArray(event.details.key_ids) &&
    event.details.key_ids.includes(key.keyId) &&
    isSaltOfContent(Buffer.from(record.salt, 'hex'), tenantId, key.keyId)
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
