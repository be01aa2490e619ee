import type { LRUCache } from 'lru-cache'

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
