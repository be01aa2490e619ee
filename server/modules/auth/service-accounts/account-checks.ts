import { isDeepStrictEqual } from 'node:util'
import { type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { isScope, type Scope, scopeNames } from '../../../../contract/scopes.ts'
import { parseTimestamp } from '../../../../contract/timestamp.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import { normaliseNetwork } from './allowed-addresses.ts'
import { allowedAddressesMax, nameLengthMax } from './service-accounts-schemas.ts'
import type { AccountRow } from './service-accounts-store.ts'
import type { ServiceAccountChanges } from './service-accounts-types.ts'

interface AccountChange {
  /** The changed members with their new values. */
  set: CheckedAccount
  /** The same members for the event, with their values before and after. */
  before: Record<string, JsonValue>
  after: Record<string, JsonValue>
  /** True if the account loses rights that live tokens still grant, so they must end. */
  narrows: boolean
}

/** Checked members in their stored form. */
export interface CheckedAccount {
  name?: string
  scopes?: Scope[]
  expires_at?: string | null
  allowed_addresses?: string[] | null
}

/**
 * Checks the given members. The command line calls this without a schema in front, and only this function checks
 * addresses.
 *
 * @param now RFC 3339 in UTC with six fractional digits
 * @throws DomainError `validation-failed` with every violation
 */
export function checkAccount(account: ServiceAccountChanges, now: string): CheckedAccount {
  const errors: PointedError[] = []
  const { name, scopes, expires_at, allowed_addresses } = account
  const checked: CheckedAccount = {
    ...(name !== undefined && { name: checkName(name, errors) }),
    ...(scopes !== undefined && { scopes: checkScopes(scopes, errors) }),
    ...(expires_at !== undefined && { expires_at: expires_at === null ? null : checkExpiry(expires_at, now, errors) }),
    ...(allowed_addresses !== undefined && {
      allowed_addresses: allowed_addresses === null ? null : checkAddresses(allowed_addresses, errors),
    }),
  }
  if (errors.length > 0) throw validationFailed(errors)
  return checked
}

function checkName(name: string, errors: PointedError[]): string {
  if (name.trim() !== name || name.length < 1 || name.length > nameLengthMax || /\p{Cc}/u.test(name)) {
    errors.push({
      pointer: '/name',
      detail: `must be 1 to ${nameLengthMax} characters without line breaks or spaces at its ends`,
    })
  }
  return name
}

/** Returns each scope once, in the given order. */
function checkScopes(scopes: readonly string[], errors: PointedError[]): Scope[] {
  const unknown = scopes.filter((scope) => !isScope(scope))
  if (unknown.length > 0) {
    const names = unknown.map((scope) => JSON.stringify(scope)).join(', ')
    errors.push({ pointer: '/scopes', detail: `has ${names}; the scopes are ${scopeNames.join(' ')}` })
  } else if (scopes.length === 0) {
    errors.push({ pointer: '/scopes', detail: `is empty; the scopes are ${scopeNames.join(' ')}` })
  }
  return [...new Set(scopes.filter(isScope))]
}

function checkExpiry(expiresAt: string, now: string, errors: PointedError[]): string {
  const parsed = parseTimestamp(expiresAt)
  if (parsed === undefined) errors.push({ pointer: '/expires_at', detail: 'must be an RFC 3339 timestamp' })
  else if (parsed.text <= now) errors.push({ pointer: '/expires_at', detail: 'must be in the future' })
  return parsed?.text ?? expiresAt
}

function checkAddresses(addresses: readonly string[], errors: PointedError[]): string[] {
  const networks = addresses.flatMap((address, index) => {
    const network = normaliseNetwork(address)
    if (network !== undefined) return [network]
    errors.push({
      pointer: `/allowed_addresses/${index}`,
      detail: 'must be an IPv4 or IPv6 address, or a network such as 203.0.113.0/24',
    })
    return []
  })
  const bounds = `must have 1 to ${allowedAddressesMax} entries; omit the list to allow any address`
  if (addresses.length === 0 || addresses.length > allowedAddressesMax) {
    errors.push({ pointer: '/allowed_addresses', detail: bounds })
  }
  return [...new Set(networks)]
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
