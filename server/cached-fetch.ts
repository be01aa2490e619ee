import type { LRUCache } from 'lru-cache'

/**
 * What a cache holds, or what its `fetchMethod` brings. `fetch` alone makes promises even for what is there, which
 * every request would pay for several times.
 */
export function getOrFetch<Key extends {}, Value extends {}>(
  cache: LRUCache<Key, Value>,
  key: Key,
): Value | Promise<Value | undefined> {
  return cache.get(key, { allowStale: false }) ?? cache.fetch(key)
}
