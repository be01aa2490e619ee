import type { Tenant } from '../../../http/caller.ts'
import { deriveKey } from '../../../secrets/encryption.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import { createInternalTokens } from './internal-tokens.ts'

/** The session that a token names. Only the database knows whether it is live. */
export interface NamedSession {
  tenant: Tenant
  sessionId: string
  userId: string
}

/** Signs and opens the value of the cookie `service_session`. */
export interface SessionTokens {
  sign(session: NamedSession & { createdAtMs: number; expiresAtMs: number }): Promise<string>
  /** Opens an unexpired session token; returns undefined for any other text. */
  open(token: string, nowMs: number): Promise<NamedSession | undefined>
}

export function createSessionTokens(deps: { masterKey: Buffer; directory: TenantDirectory }): SessionTokens {
  const tokens = createInternalTokens('session+jwt', deriveKey(deps.masterKey, 'session tokens'), deps.directory)
  return {
    sign: ({ tenant, sessionId, userId, createdAtMs, expiresAtMs }) =>
      tokens.sign(
        tenant,
        { iat: Math.floor(createdAtMs / 1000), exp: Math.floor(expiresAtMs / 1000) },
        { sub: userId, sid: sessionId },
      ),
    async open(token, nowMs) {
      const opened = await tokens.open(token, nowMs)
      if (!opened) return undefined
      const { sub, sid } = opened.claims
      if (typeof sub !== 'string' || typeof sid !== 'string') return undefined
      return { tenant: opened.tenant, sessionId: sid, userId: sub }
    },
  }
}
