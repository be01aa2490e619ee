import { AsyncLocalStorage } from 'node:async_hooks'
import { LRUCache } from 'lru-cache'
import type { ContentKeyRow } from './content-keys-store.ts'
import { asUnavailable } from './key-provider-error.ts'
import { type KeyProviders, providerNamed } from './providers/key-providers.ts'

/** Maximum time in milliseconds that an unwrapped key stays in memory. */
const heldMsMax = 5 * 60_000
/**
 * Age in milliseconds at which a key still in use is unwrapped again in the background, since a transaction may take
 * many minutes.
 */
const renewMs = 4 * 60_000
/** Pause in milliseconds after a provider failed. */
const failureMs = 1_000
/** Maximum number of concurrent unwraps of one call. */
const unwrapsAtOnce = 8

/** An unwrapped key. Its bytes are zeroed when it is dropped, and then it must encrypt nothing. */
export interface UnwrappedKey {
  readonly key: Buffer
  isHeld: boolean
}

/** Holds unwrapped content keys in memory for a few minutes, and requests them from their providers. */
export class UnwrappedKeys {
  readonly #providers: KeyProviders
  readonly #held = new LRUCache<string, UnwrappedKey>({
    ttl: heldMsMax,
    ttlAutopurge: true,
    dispose: (held) => {
      held.isHeld = false
      held.key.fill(0)
    },
  })
  readonly #unwrapping = new Map<string, Promise<void>>()
  readonly #failures = new Map<string, { error: unknown; atMs: number }>()
  /** Runs renewals outside the transactions that trigger them. */
  readonly #inBackground = AsyncLocalStorage.snapshot()
  #isClosed = false

  constructor(providers: KeyProviders) {
    this.#providers = providers
  }

  get(tenantId: string, keyId: string): UnwrappedKey | undefined {
    return this.#held.get(nameOf(tenantId, keyId))
  }

  /** Unwraps a key again in the background if it will soon be dropped. */
  renew(tenantId: string, row: ContentKeyRow): void {
    if (this.#held.getRemainingTTL(nameOf(tenantId, row.key_id)) > heldMsMax - renewMs) return
    this.#inBackground(() => void this.unwrap(tenantId, row).catch(() => {}))
  }

  /** Unwraps a key. Concurrent calls share one request, and calls soon after a failure get its error. */
  unwrap(tenantId: string, row: ContentKeyRow): Promise<void> {
    const name = nameOf(tenantId, row.key_id)
    const failed = this.#failures.get(name)
    if (failed && performance.now() - failed.atMs < failureMs) return Promise.reject(failed.error)
    const underWay = this.#unwrapping.get(name)
    if (underWay) return underWay
    const started = this.#request(tenantId, row)
      .then(
        (key) => {
          this.#failures.delete(name)
          if (this.#isClosed) key.fill(0)
          else this.#held.set(name, { key, isHeld: true })
        },
        (error: unknown) => {
          this.#failures.set(name, { error, atMs: performance.now() })
          throw error
        },
      )
      .finally(() => this.#unwrapping.delete(name))
    this.#unwrapping.set(name, started)
    return started
  }

  /** Unwraps those of the keys that are not in memory. Skips keys that fail: a caller that needs one gets its error. */
  async unwrapMissing(tenantId: string, rows: readonly ContentKeyRow[]): Promise<void> {
    const left = rows.filter((row) => !this.get(tenantId, row.key_id)).values()
    const unwrapLeft = async () => {
      for (const row of left) await this.unwrap(tenantId, row)
    }
    await Promise.allSettled(Array.from({ length: unwrapsAtOnce }, unwrapLeft))
  }

  drop(tenantId: string, keyId: string): void {
    this.#held.delete(nameOf(tenantId, keyId))
  }

  close(): void {
    this.#isClosed = true
    this.#held.clear()
  }

  async #request(tenantId: string, row: ContentKeyRow): Promise<Buffer> {
    const provider = providerNamed(this.#providers, row.provider)
    if (row.wrapped === null) throw new Error(`the content key ${row.key_id} was destroyed`)
    try {
      return await provider.unwrap(row.key_ref, row.wrapped, { tenant: tenantId, keyId: row.key_id })
    } catch (error) {
      throw asUnavailable(error, 'The content of this tenant cannot be decrypted at the moment.')
    }
  }
}

function nameOf(tenantId: string, keyId: string): string {
  return `${tenantId} ${keyId}`
}
