import type { CmekState } from './cmek-types.ts'
import type { ContentKeyRow } from './content-keys-store.ts'

/** As it is answered; undefined without an active key. */
export function stateOf(rows: readonly ContentKeyRow[]): CmekState | undefined {
  const active = rows.find((row) => row.state === 'active')
  if (active === undefined) return undefined
  const { provider, key_ref, key_id, created_at, wrapped_at } = active
  return {
    provider: provider as CmekState['provider'],
    key_ref,
    key_id,
    created_at,
    wrapped_at,
    content_keys: rows.filter((row) => row.state !== 'destroyed').length,
  }
}
