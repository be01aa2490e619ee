import { randomBytes } from 'node:crypto'
import { DomainError } from '../../../../contract/domain-error.ts'
import { refreshGraceSeconds, userTokenSeconds } from '../../../../contract/limits.ts'
import { roles } from '../../../../contract/roles.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { TokenKeys } from '../../keys/keys-types.ts'
import type { IssuedUserToken, TokenRevoker } from '../auth-types.ts'
import { mintAccessToken, webClientId } from '../tokens/token-issuer.ts'
import type { LiveSessions } from './live-sessions.ts'
import type { FamilyMember, NamedFamily, NamedSession, RefreshTokens } from './session-tokens.ts'
import { advanceFamily, dropFamilies, endSession, insertFamily, lockFamily } from './sessions-store.ts'
import { type LiveSession, SessionEndedError } from './sessions-types.ts'

/**
 * Maximum number of families of a session; the most recently used ones stay. Each call with the session cookie starts a
 * family, so this covers a day of tabs and reloads.
 */
const familiesMax = 20

interface TokenExchangeDeps {
  database: Database
  keys: TokenKeys
  live: LiveSessions
  revoker: TokenRevoker
  governance: GovernanceLog
  refreshTokens: RefreshTokens
  now: () => number
}

/** The caller, for the event of a reused token. */
interface Origin {
  address: string
  requestId: string
}

/** The result of a refresh. It is returned, since an error thrown inside the transaction would undo the revocation. */
type Outcome = { live: LiveSession; member: FamilyMember } | 'over' | 'dropped' | 'reused'

export class TokenExchange {
  readonly #deps: TokenExchangeDeps

  constructor(deps: TokenExchangeDeps) {
    this.#deps = deps
  }

  /** Issues the first tokens of a new family. Throws {@link SessionEndedError}. */
  async begin(session: NamedSession): Promise<IssuedUserToken> {
    const nowMs = this.#deps.now()
    const rotatedAt = formatTimestamp(nowMs)
    const familyId = `fam_${randomBytes(18).toString('base64url')}`
    const live = await this.#deps.database.withTenant(session.tenant.slug, async (tx) => {
      const found = await this.#deps.live.lock(tx, session)
      if (!found) return undefined
      await insertFamily(tx, {
        family_id: familyId,
        session_id: found.sessionId,
        generation: 1,
        rotated_at: rotatedAt,
        created_at: rotatedAt,
      })
      await dropFamilies(tx, found.sessionId, familiesMax)
      return found
    })
    if (!live) throw new SessionEndedError()
    return this.#tokensOf(live, { familyId, generation: 1, rotatedAtMs: nowMs })
  }

  /**
   * Issues the tokens that follow a refresh token. Throws {@link SessionEndedError}, also if a reused token ended the
   * session.
   */
  async follow(family: NamedFamily, origin: Origin): Promise<IssuedUserToken> {
    const outcome = await this.#deps.database.withTenant(family.tenant.slug, (tx) => this.#rotate(tx, family, origin))
    if (outcome === 'over') throw new SessionEndedError()
    if (outcome === 'reused') {
      throw new SessionEndedError('The refresh token was used before, so the session was ended. Sign in again.')
    }
    if (outcome === 'dropped') throw unknownRefreshToken()
    return this.#tokensOf(outcome.live, outcome.member)
  }

  async #tokensOf(live: LiveSession, member: FamilyMember): Promise<IssuedUserToken> {
    const { tenant, sessionId, user, expiresAtMs } = live
    const restSeconds = Math.ceil((expiresAtMs - this.#deps.now()) / 1000)
    const expiresIn = Math.max(1, Math.min(userTokenSeconds, restSeconds))
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
        refresh_expires_in: Math.max(1, restSeconds),
      },
      refreshCookie: this.#deps.refreshTokens.cookieOf(tenant.slug, sessionId),
      expiresAtMs,
    }
  }

  /**
   * Rotates a family. The transaction locks the session, so one of many concurrent calls rotates and the others find
   * its successor.
   */
  async #rotate(tx: TenantTx, named: NamedFamily, origin: Origin): Promise<Outcome> {
    const live = await this.#deps.live.lock(tx, named)
    if (!live) return 'over'
    const family = await lockFamily(tx, named.familyId)
    // A generation above the stored one can only stem from before a restore of the database.
    if (!family || family.session_id !== named.sessionId || named.generation > family.generation) return 'dropped'
    const nowMs = this.#deps.now()
    const isRecent = ([, atMs]: readonly [number, number]) => nowMs - atMs <= refreshGraceSeconds * 1000
    const memberAt = (generation: number, rotatedAt: string): FamilyMember => ({
      familyId: family.family_id,
      generation,
      rotatedAtMs: Date.parse(rotatedAt),
    })
    if (named.generation < family.generation) {
      const followed = family.rotations.some((each) => each[0] === named.generation && isRecent(each))
      if (followed) return { live, member: memberAt(family.generation, family.rotated_at) }
      await this.#revokeReused(tx, live, named, family.generation, origin)
      return 'reused'
    }
    const rotatedAt = formatTimestamp(nowMs)
    const generation = family.generation + 1
    await advanceFamily(tx, {
      family_id: family.family_id,
      generation,
      rotated_at: rotatedAt,
      rotations: [...family.rotations.filter(isRecent), [named.generation, nowMs]],
    })
    return { live, member: memberAt(generation, rotatedAt) }
  }

  /**
   * Ends a session whose refresh token was reused. Two parties hold the token and nothing identifies the owner, so both
   * lose it.
   */
  async #revokeReused(
    tx: TenantTx,
    { tenant, sessionId, user }: LiveSession,
    { familyId, generation }: NamedFamily,
    currentGeneration: number,
    origin: Origin,
  ): Promise<void> {
    await endSession(tx, sessionId, formatTimestamp(this.#deps.now()))
    await this.#deps.revoker.revoke(tx, `session:${sessionId}`, 1)
    await this.#deps.governance.append(tx, tenant, {
      kind: 'auth.refresh_reuse_detected',
      subject: `user:${user.userId}`,
      details: { session_id: sessionId, family_id: familyId, generation, current_generation: currentGeneration },
      actor: { subject: user.userId, clientId: webClientId, ...origin },
    })
  }
}

/** Creates the error for an unknown refresh token. The session may still be live: its cookie gets new tokens. */
export function unknownRefreshToken(): DomainError {
  return new DomainError(
    'authentication-failed',
    'The refresh token does not belong to this session, has expired, or was sent without its cookie. Repeat the ' +
      'request without a body to use the session cookie.',
  )
}
