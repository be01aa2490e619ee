import { isScope } from '../../../../contract/scopes.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database } from '../../../db/database.ts'
import { isServedAt } from '../../../http/caller.ts'
import type { TokenKeys } from '../../keys/keys-types.ts'
import type { OAuthErrorCode, ServiceToken, TokenCharge, TokenRequestOrigin } from '../auth-types.ts'
import type { LiveSessions } from '../sessions/live-sessions.ts'
import type { RefreshFamilies } from '../sessions/refresh-families.ts'
import { reuseDetection, type SessionEnds } from '../sessions/session-ends.ts'
import type { FamilyMember, NamedFamily } from '../sessions/session-tokens.ts'
import { redeemCode } from '../sessions/sessions-store.ts'
import type { LiveSession } from '../sessions/sessions-types.ts'
import { remainingLife } from '../sessions/token-exchange.ts'
import { mintAccessToken } from '../tokens/token-issuer.ts'
import { invalidClient, oauthError, wrongTenant } from '../tokens/token-request.ts'
import { isVerifierOf, resourceOf } from './authorization-request.ts'
import { codeHash, grantableScopes } from './authorizations-service.ts'
import type { ClientRegistrations } from './client-registrations.ts'
import { type ClientGrant, type ClientTokens, type CodeGrant, hashOf } from './client-tokens.ts'
import type { CodeRequest, GrantRequest, RefreshRequest } from './grant-request.ts'

interface ClientTokenExchangeDeps {
  database: Database
  keys: TokenKeys
  live: LiveSessions
  families: RefreshFamilies
  registrations: ClientRegistrations
  tokens: ClientTokens
  ends: SessionEnds
  now: () => number
}

type Issued = { live: LiveSession; member: FamilyMember }

const deadCode = 'The code is not valid for this client, redirect URI and code_verifier, or has expired.'
const deadToken = 'The refresh token is not valid for this client, or the authorization has ended. Authorize again.'

/** Issues the tokens of clients that a person authorized. */
export class ClientTokenExchange {
  readonly #deps: ClientTokenExchangeDeps

  constructor(deps: ClientTokenExchangeDeps) {
    this.#deps = deps
  }

  /** Throws DomainError with the members of an OAuth error, or `rate-limited` if the charge throws it. */
  async issue(request: GrantRequest, charge: TokenCharge, origin: TokenRequestOrigin): Promise<ServiceToken> {
    const strange = async (error: Error) => {
      await charge.failed(request.clientId)
      return error
    }
    if (!this.#deps.registrations.open(request.clientId, origin.hostTenant)) {
      throw await strange(invalidClient('The client id is unknown here. Register the client again.'))
    }
    const isRefresh = request.grantType === 'refresh_token'
    const grant = isRefresh ? await this.#openRefresh(request) : await this.#openCode(request)
    if (!grant || grant.client !== hashOf(request.clientId) || !isServedAt(origin.hostTenant, grant.tenant)) {
      throw await strange(isRefresh ? invalidGrant('/refresh_token', deadToken) : invalidGrant('/code', deadCode))
    }
    const { tenant, sessionId } = grant
    await charge.succeed(sessionId, tenant.slug)
    if (request.tenantHeader !== undefined && request.tenantHeader !== tenant.slug) {
      throw wrongTenant(request.tenantHeader)
    }
    this.#checkNarrower(request, grant)
    const issued =
      'familyId' in grant
        ? await this.#refresh(grant, request.clientId, origin)
        : await this.#redeem(request as CodeRequest, grant, origin)
    return this.#tokensOf(issued, grant, request)
  }

  #openRefresh({ refreshToken }: RefreshRequest) {
    return this.#deps.tokens.openRefresh(refreshToken, this.#deps.now())
  }

  async #openCode({ code, redirectUri, codeVerifier }: CodeRequest): Promise<CodeGrant | undefined> {
    const grant = await this.#deps.tokens.openCode(code, this.#deps.now())
    const isBound = grant?.redirect === hashOf(redirectUri) && isVerifierOf(codeVerifier, grant.codeChallenge)
    return isBound ? grant : undefined
  }

  /** Checks that a request asks for no more than was granted, and for the same resource. */
  #checkNarrower(request: GrantRequest, grant: ClientGrant): void {
    const { resource } = request
    if (resource !== undefined && resourceOf(resource, grant.tenant.baseUrl) !== grant.resource) {
      throw refused('invalid_target', '/resource', `resource must be ${grant.resource}, which was authorized.`)
    }
    const beyond = (wantedScopes(request) ?? []).filter((scope) => isScope(scope) && !grant.scopes.includes(scope))
    if (beyond.length > 0) {
      throw refused('invalid_scope', '/scope', `The person did not authorize: ${beyond.join(' ').slice(0, 500)}`)
    }
  }

  /** Redeems a code. A second use ends the authorization: somebody else may hold what the first one issued. */
  async #redeem(request: CodeRequest, grant: ClientGrant, origin: TokenRequestOrigin): Promise<Issued> {
    const { database, live, families, ends, now } = this.#deps
    const { tenant, sessionId } = grant
    const outcome = await database.withTenant(tenant.slug, async (tx) => {
      const isFirst = await redeemCode(tx, sessionId, codeHash(request.code), formatTimestamp(now()))
      const found = await live.lock(tx, grant)
      if (!found) return undefined
      if (isFirst) return { live: found, member: await families.begin(tx, sessionId) }
      await ends.end(tx, tenant, sessionId, {
        actor: reuseDetection,
        reason: 'code_reused',
        details: { address: origin.address, request_id: origin.requestId },
      })
      return undefined
    })
    if (!outcome) throw invalidGrant('/code', `${deadCode} A code is valid once.`)
    return outcome
  }

  async #refresh(family: NamedFamily, clientId: string, origin: TokenRequestOrigin): Promise<Issued> {
    const { address, requestId } = origin
    const outcome = await this.#deps.families.follow(family, { address, requestId, clientId })
    if (outcome === 'reused') {
      const detail = 'The refresh token was used before, so the authorization was ended. Authorize again.'
      throw invalidGrant('/refresh_token', detail)
    }
    if (typeof outcome === 'string') throw invalidGrant('/refresh_token', deadToken)
    return outcome
  }

  /** Issues tokens with those granted scopes that the role of the person still has. */
  async #tokensOf({ live, member }: Issued, grant: ClientGrant, request: GrantRequest): Promise<ServiceToken> {
    const { keys, tokens, now } = this.#deps
    const { tenant, sessionId, user, expiresAtMs } = live
    const grantable = grantableScopes(user.role)
    const wanted = wantedScopes(request) ?? grant.scopes
    const scopes = grant.scopes.filter((scope) => grantable.includes(scope) && wanted.includes(scope))
    if (scopes.length === 0) {
      throw refused('invalid_scope', '/scope', 'The role of the person has none of these scopes any more.')
    }
    const { restSeconds, expiresIn } = remainingLife(live, now())
    return {
      access_token: await mintAccessToken(keys, {
        tenant,
        subject: user.userId,
        clientId: request.clientId,
        scopes,
        epoch: user.epoch,
        sessionId,
        expiresInSeconds: expiresIn,
      }),
      expires_in: expiresIn,
      token_type: 'Bearer',
      scope: scopes.join(' '),
      refresh_token: await tokens.signRefresh(grant, member, expiresAtMs),
      refresh_expires_in: restSeconds,
    }
  }
}

/** Returns the scopes that a refresh asks for; a code has the scopes that the person chose. */
function wantedScopes(request: Pick<GrantRequest, 'grantType'> & { scopes?: readonly string[] | undefined }) {
  return request.grantType === 'refresh_token' ? request.scopes : undefined
}

function invalidGrant(pointer: string, detail: string): Error {
  return refused('invalid_grant', pointer, detail)
}

function refused(code: OAuthErrorCode, pointer: string, detail: string): Error {
  return oauthError(code, detail, { pointer })
}
