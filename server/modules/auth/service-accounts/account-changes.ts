import { isDeepStrictEqual } from 'node:util'
import type { JsonValue } from '../../../../provenance/json.ts'
import type { CheckedAccount } from './account-checks.ts'
import type { AccountRow } from './service-accounts-store.ts'

export interface AccountChange {
  /** The members that differ. */
  set: CheckedAccount
  /** The same members, for the event. */
  before: Record<string, JsonValue>
  after: Record<string, JsonValue>
  /** Tokens that are about say more than the account now may: they have to end. */
  narrows: boolean
}

/** What the wished changes would change, or undefined. */
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
  // Both as text of one form, so their order is the order in time.
  const endsSooner = typeof expiresAt === 'string' && (row.expires_at === null || expiresAt < row.expires_at)
  const movesAddresses = addresses !== undefined && !isDeepStrictEqual(addresses, row.allowed_addresses)
  return losesScope || endsSooner || movesAddresses
}
