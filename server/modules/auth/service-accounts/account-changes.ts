import { isDeepStrictEqual } from 'node:util'
import type { JsonValue } from '../../../../provenance/json.ts'
import type { CheckedAccount } from './account-checks.ts'
import type { AccountRow } from './service-accounts-store.ts'

export interface AccountChange {
  /** The changed members with their new values. */
  set: CheckedAccount
  /** The same members for the event, with their values before and after. */
  before: Record<string, JsonValue>
  after: Record<string, JsonValue>
  /** True if the account loses rights that live tokens still grant, so they must end. */
  narrows: boolean
}

/** Returns the difference between the stored account and the requested members; undefined if there is none. */
export function changeOf(row: AccountRow, wished: CheckedAccount): AccountChange | undefined {
  const names = (Object.keys(wished) as (keyof CheckedAccount)[]).filter(
    (name) => !isDeepStrictEqual(wished[name], row[name]),
  )
  if (names.length === 0) return undefined
  const members = (from: CheckedAccount | AccountRow) =>
    Object.fromEntries(names.map((name) => [name, from[name] ?? null]))
  return { set: members(wished), before: members(row), after: members(wished), narrows: narrows(row, wished) }
}

function narrows(row: AccountRow, { scopes, expires_at: expiresAt, allowed_addresses: addresses }: CheckedAccount) {
  const losesScope = scopes !== undefined && row.scopes.some((scope) => !(scopes as string[]).includes(scope))
  // Both timestamps have one text form, so text order is time order.
  const endsSooner = typeof expiresAt === 'string' && (row.expires_at === null || expiresAt < row.expires_at)
  const movesAddresses = addresses !== undefined && !isDeepStrictEqual(addresses, row.allowed_addresses)
  return losesScope || endsSooner || movesAddresses
}
