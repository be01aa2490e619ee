import { isScope } from '../../../../contract/scopes.ts'
import type { SecretRow } from './client-secrets-store.ts'
import type { AccountRow } from './service-accounts-store.ts'
import type { ServiceAccount } from './service-accounts-types.ts'

/**
 * Returns an account as the API responds with it, without absent members. `secrets` may include those of other
 * accounts.
 */
export function toAccountResponse(row: AccountRow, secrets: readonly SecretRow[], now: string): ServiceAccount {
  const live = secrets.filter(
    ({ client_id, expires_at }) => client_id === row.client_id && (expires_at === null || expires_at > now),
  )
  return {
    client_id: row.client_id,
    name: row.name,
    scopes: row.scopes.filter(isScope),
    created_at: row.created_at,
    ...(row.last_used_at !== null && { last_used_at: row.last_used_at }),
    ...(row.disabled_at !== null && { disabled_at: row.disabled_at }),
    ...toLimitsResponse(row),
    secrets: live.map(({ created_at, expires_at }) => ({ created_at, ...(expires_at !== null && { expires_at }) })),
  }
}

/** Returns the expiry of an account and its allowed addresses, if it has them. */
export function toLimitsResponse({
  expires_at,
  allowed_addresses,
}: {
  expires_at?: string | null
  allowed_addresses?: string[] | null
}): Pick<ServiceAccount, 'expires_at' | 'allowed_addresses'> {
  return {
    ...(expires_at && { expires_at }),
    ...(allowed_addresses && { allowed_addresses }),
  }
}
