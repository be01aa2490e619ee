import type { CmekState } from './cmek-types.ts'
import type { ContentKeyRow } from './content-keys-store.ts'

/** The one that contents are sealed under now. */
export function activeOf(rows: readonly ContentKeyRow[]): ContentKeyRow | undefined {
  return rows.find((row) => row.state === 'active')
}

/** Those that still open something. */
export function live(rows: readonly ContentKeyRow[]): ContentKeyRow[] {
  return rows.filter((row) => row.state !== 'destroyed')
}

/** As it is answered; undefined without an active key. */
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
