import { LRUCache } from 'lru-cache'

/**
 * Returns the cached value, or the promise of the cache's `fetchMethod`. `LRUCache.fetch` returns a promise even for a
 * cached value, and every request would pay for several.
 */
export function getOrFetch<Key extends {}, Value extends {}>(
  cache: LRUCache<Key, Value>,
  key: Key,
): Value | Promise<Value | undefined> {
  return cache.get(key, { allowStale: false }) ?? cache.fetch(key)
}

/** Milliseconds for which a process may use what another process replaced. */
const ttlMs = 1000
const tenantsMax = 1000

interface Entry<Value> {
  value: Promise<Value>
  /** Infinite until the value is read: until then all callers wait for the same read. */
  expiresAtMs: number
  /** The read that begins after the running one. */
  next?: Promise<Value> | undefined
}

/**
 * Caches a value for each tenant. A value is at most one second old, and never older than the last change by this
 * process. The values of a thousand tenants are kept.
 */
export class TenantCache<Value> {
  readonly #read: (tenantId: string) => Promise<Value>
  readonly #nowMs: () => number
  readonly #sizeOf: (value: Value) => number
  readonly #entries: LRUCache<string, Entry<Value>>

  /**
   * @param options.sizeOf the size of a value beyond that of its entry, which is 1
   * @param options.sizeMax the maximum of all sizes
   */
  constructor(
    read: (tenantId: string) => Promise<Value>,
    options: { nowMs?: (() => number) | undefined; sizeOf?: (value: Value) => number; sizeMax?: number } = {},
  ) {
    this.#read = read
    this.#nowMs = options.nowMs ?? (() => performance.now())
    this.#sizeOf = options.sizeOf ?? (() => 0)
    this.#entries = new LRUCache({ max: tenantsMax, maxSize: tenantsMax + (options.sizeMax ?? 0) })
  }

  /** Returns the value, at most one second old. Rejects with the error of the read; the next call tries again. */
  get(tenantId: string): Promise<Value> {
    const entry = this.#entries.get(tenantId)
    return entry && this.#nowMs() < entry.expiresAtMs ? entry.value : this.#start(tenantId)
  }

  /** Reads the value after the call; concurrent calls share the read. */
  getFresh(tenantId: string): Promise<Value> {
    const entry = this.#entries.peek(tenantId)
    if (entry === undefined || entry.expiresAtMs !== Number.POSITIVE_INFINITY) return this.#start(tenantId)
    // A running read may have started before the change that the caller needs was committed; the next one has not.
    const start = () => this.#start(tenantId)
    entry.next ??= entry.value.then(start, start)
    return entry.next
  }

  /**
   * Drops the value. Call it after every commit that changed it. A running read may have begun before, so only earlier
   * callers get its result.
   */
  drop(tenantId: string): void {
    this.#entries.delete(tenantId)
  }

  #start(tenantId: string): Promise<Value> {
    // The time counts from before the read, which is how old its result may be.
    const expiresAtMs = this.#nowMs() + ttlMs
    const entry: Entry<Value> = { value: this.#read(tenantId), expiresAtMs: Number.POSITIVE_INFINITY }
    this.#entries.set(tenantId, entry, { size: 1 })
    const isCurrent = () => this.#entries.peek(tenantId) === entry
    entry.value.then(
      (value) => {
        entry.expiresAtMs = expiresAtMs
        if (isCurrent()) this.#entries.set(tenantId, entry, { size: 1 + this.#sizeOf(value) })
      },
      () => void (isCurrent() && this.#entries.delete(tenantId)),
    )
    return entry.value
  }
}
