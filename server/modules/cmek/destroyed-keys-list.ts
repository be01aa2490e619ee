import { text } from 'node:stream/consumers'
import type { Storage } from '../../storage/storage.ts'

/** Content keys that were destroyed at once. */
export interface KeptDestruction {
  tenant: string
  /** The governance event that told of it. */
  event_id: string
  destroyed_at: string
  reason: string
  key_ids: readonly string[]
}

/** Keeps destructions apart from the database: one that is restored must not bring the keys back. */
export interface DestroyedKeysList {
  /** Returns once it is kept; called before the transaction commits. */
  keep(destruction: KeptDestruction): Promise<void>
  /** All of a tenant, in any order. Throws where what was kept cannot be read. */
  read(tenant: string): AsyncIterable<KeptDestruction>
}

/** In the storage, beside the list of erasures: an object for each destruction, which is never written again. */
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
          throw new Error(`${key} in ${storage.place} is not what was kept of keys of ${tenant}: it was changed`)
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
