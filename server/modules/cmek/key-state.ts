import type { CmekState } from './cmek-types.ts'
import type { ContentKeyRow } from './content-keys-store.ts'

/** Returns the active key, which encrypts new content. */
export function activeOf(rows: readonly ContentKeyRow[]): ContentKeyRow | undefined {
  return rows.find((row) => row.state === 'active')
}

/** Returns the keys that still decrypt content. */
export function live(rows: readonly ContentKeyRow[]): ContentKeyRow[] {
  return rows.filter((row) => row.state !== 'destroyed')
}

/** Returns the state in the form of a response; undefined without an active key. */
export function stateOf(rows: readonly ContentKeyRow[]): CmekState | undefined {
  const active = activeOf(rows)
  if (active === undefined) return undefined
  const { provider, key_ref, key_id, created_at, wrapped_at } = active
  return {
    provider: provider as CmekState['provider'],
    key_ref,
    key_id,
    created_at,
    wrapped_at,
    content_keys: live(rows).length,
  }
}
