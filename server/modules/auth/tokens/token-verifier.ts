import { hash } from 'node:crypto'
import { type JWTPayload, jwtVerify, type ProtectedHeaderParameters } from 'jose'
import { LRUCache } from 'lru-cache'
import { DomainError } from '../../../../contract/domain-error.ts'
import { isScope } from '../../../../contract/scopes.ts'
import type { AccessControl, TokenClaims } from '../../../http/caller.ts'
import type { TokenKey, TokenKeys } from '../../keys/keys-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Revocations } from '../auth-types.ts'
import { accessTokenType } from './token-issuer.ts'

const tokenLengthMax = 8192
const cachedMax = 10_000
/** Clocks of several processes differ a little. */
const skewSeconds = 5
const requiredClaims = ['iss', 'aud', 'sub', 'exp', 'iat', 'jti', 'client_id', 'tenant', 'scope']

/**
 * Verifies access tokens. What a token says is verified once and remembered until it expires; whether its account
 * may still use it is asked every time, of a memory that is at most two seconds old.
 */
export function createTokenVerifier(deps: {
  keys: TokenKeys
  directory: TenantDirectory
  revocations: Revocations
}): AccessControl['authenticate'] {
  const verified = new LRUCache<string, TokenClaims>({ max: cachedMax })
  return async (token) => {
    const cacheKey = hash('sha256', token, 'base64')
    let claims = verified.get(cacheKey)
    if (!claims) {
      claims = await verify(token, deps)
      verified.set(cacheKey, claims, { ttl: remainingMs(claims) })
    }
    if (remainingMs(claims) <= 0) throw expired()
    if (await deps.revocations.isRevoked(claims.tenantSlug, `client:${claims.clientId}`, claims.epoch)) {
      throw new DomainError('authentication-failed', 'The service account of this token is disabled or gone.')
    }
    return claims
  }
}

async function verify(
  token: string,
  { keys, directory }: { keys: TokenKeys; directory: TenantDirectory },
): Promise<TokenClaims> {
  if (token.length > tokenLengthMax) throw invalidToken()
  const { payload } = await jwtVerify(token, (header) => keyFor(header, keys).publicKey, {
    typ: accessTokenType,
    algorithms: ['ES256', 'RS256'],
    requiredClaims,
    clockTolerance: skewSeconds,
  }).catch((error: { code?: string }) => {
    throw error.code === 'ERR_JWT_EXPIRED' ? expired() : invalidToken(error)
  })
  const claims = readClaims(payload)
  // Only a token that this service signed comes this far, so the look-up is not for strangers to cause.
  const tenant = await directory.find(claims.tenantSlug)
  if (!tenant || payload.iss !== tenant.baseUrl || payload.aud !== tenant.baseUrl) throw invalidToken()
  return claims
}

/** The key by its id, from memory. Whatever else a header offers as a key is ignored or refused, never fetched. */
function keyFor(header: ProtectedHeaderParameters, keys: TokenKeys): TokenKey {
  const key = typeof header.kid === 'string' ? keys.verificationKey(header.kid) : undefined
  const bringsKey = ['jku', 'jwk', 'x5u', 'x5c'].some((name) => Object.hasOwn(header, name))
  if (!key || bringsKey || header.alg !== key.algorithm) throw invalidToken()
  return key
}

function readClaims(payload: JWTPayload): TokenClaims {
  const { sub, jti, exp, client_id: clientId, tenant, scope } = payload
  if (
    typeof sub !== 'string' ||
    typeof jti !== 'string' ||
    typeof exp !== 'number' ||
    typeof clientId !== 'string' ||
    typeof tenant !== 'string' ||
    typeof scope !== 'string'
  ) {
    throw invalidToken()
  }
  return {
    subject: sub,
    clientId,
    tenantSlug: tenant,
    tokenId: jti,
    scopes: new Set(scope.split(' ').filter(isScope)),
    expiresAt: exp,
    epoch: 1,
  }
}

function remainingMs(claims: TokenClaims): number {
  return (claims.expiresAt + skewSeconds) * 1000 - Date.now()
}

function invalidToken(cause?: unknown): DomainError {
  return new DomainError('authentication-failed', 'The bearer token is not a valid access token of this service.', {
    cause,
  })
}

function expired(): DomainError {
  return new DomainError('authentication-failed', 'The bearer token has expired. Get a new one.')
}
