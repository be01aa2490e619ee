import { isScope } from '../../../../contract/scopes.ts'
import type { TokenClaims } from '../../../http/caller.ts'

/**
 * Tolerated difference between the clocks of processes in seconds: a token may be slightly too new, but never expired.
 */
const clockSkewSeconds = 5

interface AccessClaims {
  claims: TokenClaims
  issuer: string
  audience: string
}

/**
 * Reads the claims of an access token (RFC 9068, section 2.2) from a verified payload. Returns undefined if one is
 * missing or has the wrong type, or the token is not valid yet. The caller checks the expiry.
 */
export function readAccessClaims(payload: Uint8Array): AccessClaims | undefined {
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
  const claims: TokenClaims = {
    subject: sub,
    clientId,
    tenantSlug: tenant,
    tokenId: jti,
    scopes: new Set(scope.split(' ').filter(isScope)),
    expiresAt: exp,
    epoch,
    ...(isText(sid) && { sessionId: sid }),
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
