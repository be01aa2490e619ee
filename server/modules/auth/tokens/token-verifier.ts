import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { DomainError } from '../../../../contract/domain-error.ts'
import type { AccessControl, TokenClaims } from '../../../http/caller.ts'
import type { TokenKeys } from '../../keys/keys-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Principal, Revocations } from '../auth-types.ts'
import { addressFilter } from '../service-accounts/allowed-addresses.ts'
import { readAccessClaims } from './access-claims.ts'
import { verifyCompactJws } from './compact-jws.ts'
import { accessTokenType } from './token-issuer.ts'

const tokenLengthMax = 8192
const cachedMax = 10_000
/** Tokens of a session are of this epoch of it: revoking 1 ends them all. */
const sessionEpoch = 0

/** A token whose signature and claims were verified, with what has to be asked anew for every request. */
interface VerifiedToken {
  claims: TokenClaims
  issuer: string
  /** The person or service account that it belongs to, revoked below its epoch. */
  owner: Principal
  session: Principal | undefined
  /** Absent: it may come from anywhere. */
  isAllowedFrom: ((address: string) => boolean) | undefined
  usableUntilMs: number
}

/**
 * Verifies access tokens. What a token says is verified once and remembered; whether it has expired or was revoked,
 * and where it comes from, is looked at every time, in memory.
 */
export function createTokenVerifier(deps: {
  keys: TokenKeys
  directory: TenantDirectory
  revocations: Revocations
}): AccessControl['authenticate'] {
  const { revocations } = deps
  const verified = new LRUCache<string, VerifiedToken>({ max: cachedMax })

  async function isRevoked({ claims, owner, session }: VerifiedToken): Promise<boolean> {
    if (await revocations.isRevoked(claims.tenantSlug, owner, claims.epoch)) return true
    return session !== undefined && revocations.isRevoked(claims.tenantSlug, session, sessionEpoch)
  }

  return async (token, address) => {
    const cacheKey = hash('sha256', token, 'base64')
    let known = verified.get(cacheKey)
    if (!known) {
      known = await verify(token, deps)
      verified.set(cacheKey, known)
    }
    if (known.usableUntilMs <= Date.now()) throw expired()
    // The tenant may have moved to another address, which ends the tokens of the one before.
    if ((await issuerOf(known.claims.tenantSlug, deps.directory)) !== known.issuer) throw invalidToken()
    if (await isRevoked(known)) throw revoked(known)
    if (known.isAllowedFrom && !known.isAllowedFrom(address)) throw wrongAddress(address)
    return known.claims
  }
}

async function verify(
  token: string,
  { keys, directory }: { keys: TokenKeys; directory: TenantDirectory },
): Promise<VerifiedToken> {
  if (token.length > tokenLengthMax) throw invalidToken()
  await keys.upToDate()
  const { header, payload } = await verifyCompactJws(token, (keyId) => keys.verificationKey(keyId)).catch((error) => {
    throw invalidToken(error)
  })
  // Other kinds of tokens have keys of their own. Should one ever be signed by these, it still is no access token.
  const read = header.typ === accessTokenType ? readAccessClaims(payload) : undefined
  if (!read) throw invalidToken()
  const { claims, issuer, audience } = read
  const usableUntilMs = claims.expiresAt * 1000
  if (usableUntilMs <= Date.now()) throw expired()
  // Only a token that this service signed comes this far, so the look-up is not for strangers to cause.
  const expected = await issuerOf(claims.tenantSlug, directory)
  if (expected === undefined || issuer !== expected || audience !== expected) throw invalidToken()
  const { sessionId, allowedAddresses } = claims
  return {
    claims,
    issuer,
    owner: sessionId === undefined ? `client:${claims.clientId}` : `user:${claims.subject}`,
    session: sessionId === undefined ? undefined : `session:${sessionId}`,
    isAllowedFrom: allowedAddresses && filterOf(allowedAddresses),
    usableUntilMs,
  }
}

/** Of a suspended tenant too: that it is so is the answer of whoever looks the tenant up for the request. */
async function issuerOf(slug: string, directory: TenantDirectory): Promise<string | undefined> {
  return (await directory.find(slug, { evenSuspended: true }))?.baseUrl
}

function filterOf(networks: readonly string[]): (address: string) => boolean {
  try {
    return addressFilter(networks)
  } catch (error) {
    throw invalidToken(error)
  }
}

function invalidToken(cause?: unknown): DomainError {
  return new DomainError('authentication-failed', 'The bearer token is not a valid access token of this service.', {
    cause,
  })
}

function expired(): DomainError {
  return new DomainError('authentication-failed', 'The bearer token has expired. Get a new one.')
}

function revoked({ session }: VerifiedToken): DomainError {
  const detail = session
    ? 'The bearer token was revoked: its session has ended, or the rights of its user have changed. Get a new one.'
    : 'The bearer token was revoked: its service account is disabled or has been changed. Get a new one.'
  return new DomainError('authentication-failed', detail)
}

function wrongAddress(address: string): DomainError {
  const detail = `The bearer token may not be used from ${address}. Its service account is bound to other networks.`
  return new DomainError('authentication-failed', detail)
}
