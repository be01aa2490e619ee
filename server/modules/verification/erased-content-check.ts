import { isLeafOf } from '../../../provenance/seal.ts'
import { isSaltOfContent } from '../../db/content-salt.ts'
import type { DestroyedKey } from '../../db/database.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import type { SealedRow } from '../../records/record-rows.ts'
import type { ErasedContentCheck, VerifiedEvents } from './verification-types.ts'

export function createErasedContentCheck(verifiedEvents: VerifiedEvents): ErasedContentCheck {
  return {
    async find(tx, records) {
      const keys = new Map<string, DestroyedKey>()
      for (const { record_id, canonical } of records) {
        const key = canonical.startsWith('{') ? undefined : tx.contents.destroyedKeyOf(tx.tenantId, canonical)
        if (key) keys.set(record_id, key)
      }
      const eventIds = new Set([...keys.values()].map((key) => key.eventId))
      return { keys, events: keys.size === 0 ? new Map() : await verifiedEvents.find(tx, [...eventIds]) }
    },

    isProven(tenantId, record, { keys, events }, leaf) {
      const key = keys.get(record.record_id)!
      const event = events.get(key.eventId ?? '')
      return (
        event?.kind === 'cmek.key_destroyed' &&
        event.subject === `tenant:${tenantId}` &&
        Array.isArray(event.details.key_ids) &&
        event.details.key_ids.includes(key.keyId) &&
        isSaltOfContent(Buffer.from(record.salt, 'hex'), tenantId, key.keyId) &&
        (leaf === undefined || hasLeaf(record, leaf))
      )
    },
  }
}

function hasLeaf({ salt, provenance_hash }: SealedRow, leaf: Uint8Array): boolean {
  return isLeafOf(leaf, Buffer.from(salt, 'hex'), Buffer.from(provenance_hash, 'hex'), nodeCrypto.sha256)
}
