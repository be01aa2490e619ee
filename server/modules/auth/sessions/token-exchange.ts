import { DomainError } from '../../../../contract/domain-error.ts'
import { userTokenSeconds } from '../../../../contract/limits.ts'
import { roles } from '../../../../contract/roles.ts'
import type { Database } from '../../../db/database.ts'
import type { TokenKeys } from '../../keys/keys-types.ts'
import type { IssuedUserToken } from '../auth-types.ts'
import { mintAccessToken, webClientId } from '../tokens/token-issuer.ts'
import type { LiveSessions } from './live-sessions.ts'
import type { RefreshFamilies, RefreshOrigin } from './refresh-families.ts'
import type { FamilyMember, NamedFamily, NamedSession, RefreshTokens } from './session-tokens.ts'
import { type LiveSession, SessionEndedError } from './sessions-types.ts'

interface TokenExchangeDeps {
  database: Database
  keys: TokenKeys
  live: LiveSessions
  families: RefreshFamilies
  refreshTokens: RefreshTokens
  now: () => number
}

/** Issues the tokens of browsers. */
export class TokenExchange {
  readonly #deps: TokenExchangeDeps

  constructor(deps: TokenExchangeDeps) {
    this.#deps = deps
  }

  /** Issues the first tokens of a new family. Throws {@link SessionEndedError}. */
  async begin(session: NamedSession): Promise<IssuedUserToken> {
    const { database, live, families } = this.#deps
    const begun = await database.withTenant(session.tenant.slug, async (tx) => {
      const found = await live.lock(tx, session)
      return found && { live: found, member: await families.begin(tx, found.sessionId) }
    })
    if (!begun) throw new SessionEndedError()
    return this.#tokensOf(begun.live, begun.member)
  }

  /**
   * Issues the tokens that follow a refresh token. Throws {@link SessionEndedError}, also if a reused token ended the
   * session.
   */
  async follow(family: NamedFamily, origin: Omit<RefreshOrigin, 'clientId'>): Promise<IssuedUserToken> {
    const outcome = await this.#deps.families.follow(family, { ...origin, clientId: webClientId })
    if (outcome === 'over') throw new SessionEndedError()
    if (outcome === 'reused') {
      throw new SessionEndedError('The refresh token was used before, so the session was ended. Sign in again.')
    }
    if (outcome === 'dropped') throw unknownRefreshToken()
    return this.#tokensOf(outcome.live, outcome.member)
  }

  async #tokensOf(live: LiveSession, member: FamilyMember): Promise<IssuedUserToken> {
    const { tenant, sessionId, user, expiresAtMs } = live
    const { restSeconds, expiresIn } = remainingLife(live, this.#deps.now())
    const accessToken = await mintAccessToken(this.#deps.keys, {
      tenant,
      subject: user.userId,
      clientId: webClientId,
      scopes: roles[user.role],
      epoch: user.epoch,
      sessionId,
      expiresInSeconds: expiresIn,
    })
    return {
      token: {
        access_token: accessToken,
        expires_in: expiresIn,
        token_type: 'Bearer',
        refresh_token: await this.#deps.refreshTokens.sign(
          { tenant, sessionId, userId: user.userId, expiresAtMs },
          member,
        ),
        refresh_expires_in: restSeconds,
      },
      refreshCookie: this.#deps.refreshTokens.cookieOf(tenant.slug, sessionId),
      expiresAtMs,
    }
  }
}

/** Returns the seconds until the session ends, and the lifetime of an access token that does not outlive it. */
export function remainingLife({ expiresAtMs }: LiveSession, nowMs: number): { restSeconds: number; expiresIn: number } {
  const restSeconds = Math.max(1, Math.ceil((expiresAtMs - nowMs) / 1000))
  return { restSeconds, expiresIn: Math.min(userTokenSeconds, restSeconds) }
}

/** Creates the error for an unknown refresh token. The session may still be live: its cookie gets new tokens. */
export function unknownRefreshToken(): DomainError {
  return new DomainError(
    'authentication-failed',
    'The refresh token does not belong to this session, has expired, or was sent without its cookie. Repeat the ' +
      'request without a body to use the session cookie.',
  )
}
