import { createHmac, hash } from 'node:crypto'
import { constantTimeEqual } from '../../../secrets/constant-time-equal.ts'
import { deriveKey } from '../../../secrets/encryption.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import { createInternalTokens } from './internal-tokens.ts'
import type { NamedSession } from './session-tokens.ts'

/** One of the tokens that descend from one call with the session cookie. */
export interface FamilyMember {
  familyId: string
  /** Number of the generation; the first is 1. */
  generation: number
  /** Start of this generation, in milliseconds since 1970. */
  rotatedAtMs: number
}

export interface NamedFamily extends NamedSession, Pick<FamilyMember, 'familyId' | 'generation'> {}

/**
 * Makes refresh tokens and the cookie that they require. Scripts hold the token, so an injected script can steal it;
 * the cookie stays in the browser. Both derive from the database and from keys alone: requests for one generation get
 * the same token, byte for byte, and tabs that start at the same time get the same cookie.
 */
export interface RefreshTokens {
  cookieOf(tenantSlug: string, sessionId: string): string
  sign(session: NamedSession & { expiresAtMs: number }, member: FamilyMember): Promise<string>
  /** Opens an unexpired token that came with its cookie; returns undefined for any other. */
  open(token: string, cookie: string, nowMs: number): Promise<NamedFamily | undefined>
}

export function createRefreshTokens(deps: { masterKey: Buffer; directory: TenantDirectory }): RefreshTokens {
  const tokens = createInternalTokens('refresh+jwt', deriveKey(deps.masterKey, 'refresh tokens'), deps.directory)
  const cookieKey = deriveKey(deps.masterKey, 'refresh cookies')
  const idKey = deriveKey(deps.masterKey, 'refresh token ids')
  const macOf = (key: Buffer, ...parts: (string | number)[]) =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')

  function cookieOf(tenantSlug: string, sessionId: string): string {
    return macOf(cookieKey, tenantSlug, sessionId)
  }

  return {
    cookieOf,
    sign: (session, { familyId, generation, rotatedAtMs }) =>
      tokens.sign(
        session.tenant,
        { iat: Math.floor(rotatedAtMs / 1000), exp: Math.floor(session.expiresAtMs / 1000) },
        {
          sub: session.userId,
          sid: session.sessionId,
          family: familyId,
          generation,
          jti: macOf(idKey, session.tenant.slug, familyId, generation).slice(0, 22),
          cookie_hash: hashOf(cookieOf(session.tenant.slug, session.sessionId)),
        },
      ),
    async open(token, cookie, nowMs) {
      const opened = await tokens.open(token, nowMs)
      if (!opened) return undefined
      const { sub, sid, family, generation, cookie_hash: bound } = opened.claims
      if (
        typeof sub !== 'string' ||
        typeof sid !== 'string' ||
        typeof family !== 'string' ||
        typeof generation !== 'number' ||
        typeof bound !== 'string' ||
        !constantTimeEqual(bound, hashOf(cookie))
      ) {
        return undefined
      }
      return { tenant: opened.tenant, sessionId: sid, userId: sub, familyId: family, generation }
    },
  }
}

function hashOf(cookie: string): string {
  return hash('sha256', cookie, 'base64url')
}
