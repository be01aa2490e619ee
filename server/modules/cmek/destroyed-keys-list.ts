import { text } from 'node:stream/consumers'
import type { Storage } from '../../storage/storage.ts'

/** Content keys destroyed in one call. */
export interface KeptDestruction {
  tenant: string
  /** The governance event that records the destruction. */
  event_id: string
  destroyed_at: string
  reason: string
  key_ids: readonly string[]
}

/** Stores destructions outside the database, since a restored database must not bring the keys back. */
export interface DestroyedKeysList {
  /** Stores a destruction durably. Call it before the transaction commits. */
  keep(destruction: KeptDestruction): Promise<void>
  /** Reads all destructions of a tenant, in any order. Throws if a stored one is unreadable. */
  read(tenant: string): AsyncIterable<KeptDestruction>
}

/** Stores destructions in the object storage, beside the erasure journal: one write-once object each. */
export function createDestroyedKeysList(storage: Storage): DestroyedKeysList {
  return {
    keep: (kept) =>
      storage.write(`${folderOf(kept.tenant)}${kept.event_id}.json`, Buffer.from(`${JSON.stringify(kept)}\n`)),
    async *read(tenant) {
      for await (const key of storage.list(folderOf(tenant))) {
        if (!key.endsWith('.json')) continue
        const file = await storage.read(key)
        const kept = file && destructionIn(await text(file))
        if (kept?.tenant !== tenant) {
          throw new Error(`${key} in ${storage.place} is not the stored entry about keys of ${tenant}: it was changed`)
        }
        yield kept
      }
    },
  }
}

function folderOf(tenant: string): string {
  return `destroyed-keys/${tenant}/`
}

const members = ['tenant', 'event_id', 'destroyed_at', 'reason'] as const

function destructionIn(json: string): KeptDestruction | undefined {
  try {
    const value = JSON.parse(json) as Partial<KeptDestruction> | null
    const isWhole = members.every((member) => typeof value?.[member] === 'string') && Array.isArray(value?.key_ids)
    return isWhole ? (value as KeptDestruction) : undefined
  } catch {
    return undefined
  }
}
