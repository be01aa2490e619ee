import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { DomainError } from '../../../../contract/domain-error.ts'
import { isScope } from '../../../../contract/scopes.ts'
import type { AccessControl, TokenClaims } from '../../../http/caller.ts'
import type { TokenKeys } from '../../keys/keys-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Principal, Revocations } from '../auth-types.ts'
import { nameOfClient } from '../clients/client-registrations.ts'
import { addressFilter } from '../service-accounts/allowed-addresses.ts'
import { verifyCompactJws } from './compact-jws.ts'
import { accessTokenType } from './token-issuer.ts'

/**
 * Tolerated difference between the clocks of processes in seconds: a token may be slightly too new, but never expired.
 */
const clockSkewSeconds = 5

interface AccessClaims {
  claims: TokenClaims
  issuer: string
  audience: string
}

const tokenLengthMax = 8192

const cachedMax = 10_000

/** The epoch of all tokens of a session: revoking 1 ends them all. */
const sessionEpoch = 0

/** A token whose signature and claims were verified, with the values to check again on every request. */
interface VerifiedToken {
  claims: TokenClaims
  issuer: string
  /** The person or service account that owns the token. Revoking a higher epoch ends it. */
  owner: Principal
  session: Principal | undefined
  /** Absent: the token may come from anywhere. */
  isAllowedFrom: ((address: string) => boolean) | undefined
  usableUntilMs: number
}

/**
 * Verifies access tokens. Signature and claims are verified once and cached; expiry, revocation and the caller's
 * address are checked on every request, in memory.
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
    // The tenant may have moved to another address, which ends the tokens of the former one.
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
  // Other kinds of tokens have their own keys. If these keys ever signed one, it still would not be an access token.
  const read = header.typ === accessTokenType ? readAccessClaims(payload) : undefined
  if (!read) throw invalidToken()
  const { claims, issuer, audience } = read
  const usableUntilMs = claims.expiresAt * 1000
  if (usableUntilMs <= Date.now()) throw expired()
  // Only tokens signed by this service reach this lookup, so strangers cannot cause it.
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

/**
 * Returns the issuer, also of a suspended tenant: the later lookup of the tenant for the request reports the
 * suspension.
 */
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
  const detail = `The bearer token cannot be used from ${address}. Its service account is restricted to other networks.`
  return new DomainError('authentication-failed', detail)
}

/**
 * Reads the claims of an access token (RFC 9068, section 2.2) from a verified payload. Returns undefined if one is
 * missing or has the wrong type, or the token is not valid yet. The caller checks the expiry.
 */
function readAccessClaims(payload: Uint8Array): AccessClaims | undefined {
  const body = parseObject(payload)
  if (!body) return undefined
  const { iss, aud, sub, exp, iat, nbf, jti, client_id: clientId, tenant, scope, epoch, sid } = body
  const { allowed_addresses: allowedAddresses } = body
  if (!isText(iss) || !isText(aud) || !isText(sub) || !isText(jti) || !isText(clientId)) return undefined
  if (!isText(tenant) || typeof scope !== 'string' || !isTime(exp) || !isTime(iat)) return undefined
  if (!isEpoch(epoch)) return undefined
  if (nbf !== undefined && !(isTime(nbf) && nbf <= Date.now() / 1000 + clockSkewSeconds)) return undefined
  // A person's token belongs to a session; a service account's token has the account itself as its subject.
  const isPerson = sub.startsWith('usr_')
  if (isPerson ? !isText(sid) : sid !== undefined || sub !== clientId) return undefined
  if (allowedAddresses !== undefined && !isTexts(allowedAddresses)) return undefined
  const clientName = isPerson ? nameOfClient(clientId) : undefined
  const claims: TokenClaims = {
    subject: sub,
    clientId,
    tenantSlug: tenant,
    tokenId: jti,
    scopes: new Set(scope.split(' ').filter(isScope)),
    expiresAt: exp,
    epoch,
    ...(isText(sid) && { sessionId: sid }),
    ...(clientName !== undefined && { clientName }),
    ...(allowedAddresses !== undefined && { allowedAddresses }),
  }
  return { claims, issuer: iss, audience: aud }
}

function parseObject(payload: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText)
}

/** Returns whether the value is a NumericDate: seconds since 1970 (RFC 7519, section 2). */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function isEpoch(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
