import { leafHash } from '../../../../provenance/index.ts'
import { isSaltOfContent } from '../../../db/content-salt.ts'
import type { TenantTx } from '../../../db/database.ts'
import { type DestroyedKey, isCiphertext } from '../../../db/record-encryption.ts'
import { logCrypto } from '../log-crypto.ts'
import { findTexts, type RecordHead } from './audit-store.ts'

/** The author of the service's own governance events. */
const serviceSubject = 'service:hub'

/** Finds the texts whose key was destroyed, and the governance events that record it. `problemOf` checks such a text. */
export async function readDestructions(tx: TenantTx, texts: ReadonlyMap<string, string>) {
  const keys = new Map<string, DestroyedKey>()
  for (const [recordId, text] of texts) {
    const key = isCiphertext(text) ? tx.contents.destroyedKeyOf(tx.tenantId, text) : undefined
    if (key) keys.set(recordId, key)
  }
  const eventIds = new Set([...keys.values()].flatMap((key) => key.eventId ?? []))
  const events = eventIds.size === 0 ? new Map<string, string>() : await findTexts(tx, [...eventIds])
  return {
    keyOf: ({ record_id }: RecordHead) => keys.get(record_id),
    problemOf(head: RecordHead, leaves: readonly Uint8Array[]): string | undefined {
      const { keyId, eventId } = keys.get(head.record_id)!
      const leaf = leaves[head.leaf_index]
      if (leaf === undefined) return `seal ${head.seal_id} has no leaf ${head.leaf_index}`
      if (head.salt.length !== 16 || head.provenance_hash.length !== 32) return 'its salt or its hash was changed'
      if (Buffer.compare(leafHash(head.salt, head.provenance_hash, logCrypto.sha256), leaf) !== 0) {
        return 'its content was lost with its key, and its stored hash or salt is not the sealed one'
      }
      // The salt is part of the leaf, unlike the columns.
      if (!isSaltOfContent(head.salt, tx.tenantId, keyId)) return `it was not sealed as a text under the key ${keyId}`
      const isRecorded = matchesDestruction(events.get(eventId ?? '') ?? '', tx.tenantId, keyId)
      return isRecorded
        ? undefined
        : `its content cannot be decrypted, and no event records that its key ${keyId} was destroyed`
    },
  }
}

function matchesDestruction(text: string, tenantId: string, keyId: string): boolean {
  let event: Partial<Record<string, unknown>>
  try {
    event = JSON.parse(text)
  } catch {
    return false
  }
  const details = event.details as { key_ids?: unknown } | undefined
  return (
    event.record_type === 'governance_event' &&
    event.created_by === serviceSubject &&
    event.event_kind === 'cmek.key_destroyed' &&
    event.subject === `tenant:${tenantId}` &&
    Array.isArray(details?.key_ids) &&
    details.key_ids.includes(keyId)
  )
}
