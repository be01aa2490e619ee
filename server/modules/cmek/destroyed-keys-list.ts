import { text } from 'node:stream/consumers'
import type { Storage } from '../../storage/storage.ts'
import type { Destroyed } from './cmek-types.ts'

/** Content keys destroyed in one call, with the reason. */
type ListedDestruction = Destroyed & { reason: string }

/**
 * Stores destructions in the object storage, beside the erasure journal: one write-once object each. A restored database
 * must not bring the keys back.
 */
export class DestroyedKeysList {
  readonly #storage: Storage

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /** Stores a destruction durably. Call it before the transaction commits. */
  async keep(kept: ListedDestruction): Promise<void> {
    await this.#storage.write(`${folderOf(kept.tenant)}${kept.event_id}.json`, Buffer.from(`${JSON.stringify(kept)}\n`))
  }

  /** Reads all destructions of a tenant, in any order. Throws if a stored one is unreadable. */
  async *read(tenant: string): AsyncIterable<ListedDestruction> {
    for await (const key of this.#storage.list(folderOf(tenant))) {
      if (!key.endsWith('.json')) continue
      const file = await this.#storage.read(key)
      const kept = file && destructionIn(await text(file))
      if (kept?.tenant !== tenant) {
        throw new Error(
          `${key} in ${this.#storage.place} is not the stored entry about keys of ${tenant}: it was changed`,
        )
      }
      yield kept
    }
  }
}

function folderOf(tenant: string): string {
  return `destroyed-keys/${tenant}/`
}

const members = ['tenant', 'event_id', 'destroyed_at', 'reason'] as const

function destructionIn(json: string): ListedDestruction | undefined {
  try {
    const value = JSON.parse(json) as Partial<ListedDestruction> | null
    const isWhole = members.every((member) => typeof value?.[member] === 'string') && Array.isArray(value?.key_ids)
    return isWhole ? (value as ListedDestruction) : undefined
  } catch {
    return undefined
  }
}
