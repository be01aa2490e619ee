import { hash } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { authorizationCodeSeconds } from '../../../../contract/limits.ts'
import { isScope, type Scope } from '../../../../contract/scopes.ts'
import { deriveKey } from '../../../secrets/encryption.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import {
  createInternalTokens,
  type FamilyMember,
  type NamedFamily,
  type NamedSession,
} from '../sessions/session-tokens.ts'

/** A grant of a person to a client. */
export interface ClientGrant extends NamedSession {
  /** {@link hashOf} of the client id. */
  client: string
  scopes: readonly Scope[]
  resource: string
}

/** A {@link ClientGrant} with the values that redeem its code. */
export interface CodeGrant extends ClientGrant {
  /** {@link hashOf} of the redirect URI. */
  redirect: string
  codeChallenge: string
}

/** Signs and opens authorization codes and the refresh tokens of clients. A database alone cannot make one. */
export interface ClientTokens {
  signCode(grant: CodeGrant, nowMs: number): Promise<string>
  /** Opens a code of at most a minute; returns undefined for any other text. */
  openCode(code: string, nowMs: number): Promise<CodeGrant | undefined>
  signRefresh(grant: ClientGrant, member: FamilyMember, expiresAtMs: number): Promise<string>
  openRefresh(token: string, nowMs: number): Promise<(ClientGrant & NamedFamily) | undefined>
}

export function createClientTokens(deps: { masterKey: Buffer; directory: TenantDirectory }): ClientTokens {
  const kind = (type: string, purpose: string) =>
    createInternalTokens(type, deriveKey(deps.masterKey, purpose), deps.directory)
  const codes = kind('code+jwt', 'authorization codes')
  const refreshTokens = kind('client-refresh+jwt', 'refresh tokens of clients')
  return {
    signCode(grant, nowMs) {
      const iat = Math.floor(nowMs / 1000)
      const { redirect, codeChallenge: challenge } = grant
      const claims = { ...claimsOf(grant), redirect, challenge }
      return codes.sign(grant.tenant, { iat, exp: iat + authorizationCodeSeconds }, claims)
    },
    async openCode(code, nowMs) {
      const opened = await codes.open(code, nowMs)
      if (!opened) return undefined
      const { redirect, challenge } = opened.claims
      const grant = grantOf(opened.tenant, opened.claims)
      if (!grant || typeof redirect !== 'string' || typeof challenge !== 'string') return undefined
      return { ...grant, redirect, codeChallenge: challenge }
    },
    signRefresh: (grant, { familyId, generation, rotatedAtMs }, expiresAtMs) =>
      refreshTokens.sign(
        grant.tenant,
        { iat: Math.floor(rotatedAtMs / 1000), exp: Math.floor(expiresAtMs / 1000) },
        { ...claimsOf(grant), family: familyId, generation },
      ),
    async openRefresh(token, nowMs) {
      const opened = await refreshTokens.open(token, nowMs)
      if (!opened) return undefined
      const { family, generation } = opened.claims
      const grant = grantOf(opened.tenant, opened.claims)
      if (!grant || typeof family !== 'string' || typeof generation !== 'number') return undefined
      return { ...grant, familyId: family, generation }
    },
  }
}

/** Returns the digest by which tokens name a client or a redirect URI. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'base64url')
}

function claimsOf({ userId, sessionId, client, scopes, resource }: ClientGrant): JWTPayload {
  return { sub: userId, sid: sessionId, client, scope: scopes.join(' '), resource }
}

function grantOf(tenant: ClientGrant['tenant'], claims: JWTPayload): ClientGrant | undefined {
  const { sub, sid, client, scope, resource } = claims
  if (typeof sub !== 'string' || typeof sid !== 'string' || typeof client !== 'string') return undefined
  if (typeof scope !== 'string' || typeof resource !== 'string') return undefined
  return { tenant, userId: sub, sessionId: sid, client, scopes: scope.split(' ').filter(isScope), resource }
}
