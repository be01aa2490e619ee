import { createHmac } from 'node:crypto'
import { sessionHours } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Config } from '../../../config.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { AccessControl, Tenant } from '../../../http/caller.ts'
import { cursorKeyPurpose } from '../../../http/cursor.ts'
import { deriveKey } from '../../../secrets/encryption.ts'
import type { DenialRecorder, GovernanceLog } from '../../governance/governance-types.ts'
import type { TokenKeys } from '../../keys/keys-types.ts'
import type { SignInUsers } from '../../roster/roster-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { OpenedSession, SignIn } from '../auth-types.ts'
import { webClientId } from '../tokens/token-issuer.ts'
import { createCurrentUserSessions } from './current-user-sessions.ts'
import { createLiveSessions } from './live-sessions.ts'
import { RefreshFamilies } from './refresh-families.ts'
import { createSessionAuthenticator } from './session-authenticator.ts'
import type { SessionEnds } from './session-ends.ts'
import { createRefreshTokens, createSessionTokens, newSessionId } from './session-tokens.ts'
import { deleteExpiredSessions, insertSession } from './sessions-store.ts'
import type { SessionService } from './sessions-types.ts'
import { TokenExchange, unknownRefreshToken } from './token-exchange.ts'

const sessionMs = sessionHours * 3_600_000
const userAgentLengthMax = 512
/** Milliseconds to keep an expired session, for questions about it soon afterwards. */
const keptMs = 24 * 3_600_000
const forgottenAtOnce = 500

export interface SessionsDeps {
  database: Database
  masterKey: Buffer
  keys: TokenKeys
  directory: TenantDirectory
  users: SignInUsers
  ends: SessionEnds
  governance: GovernanceLog
  denials: DenialRecorder
  environment: Config['environment']
  /** Verifies access tokens. */
  authenticate: AccessControl['authenticate']
  /** Returns the name of a service account. */
  accountName: (tx: TenantTx, clientId: string) => Promise<string | undefined>
  /** Returns milliseconds since 1970. */
  now?: () => number
}

/**
 * Creates the service for the sessions of people: sign-in, the tokens of their tabs, and the end after at most 8 hours.
 */
export function createSessions(deps: SessionsDeps): SessionService {
  const { governance, users, now = () => Date.now() } = deps
  const tokens = createSessionTokens(deps)
  const refreshTokens = createRefreshTokens(deps)
  const shared = { ...deps, now, live: createLiveSessions({ ...deps, now }) }
  const admission = createSessionAuthenticator({ ...shared, tokens })
  const exchange = new TokenExchange({ ...shared, refreshTokens, families: new RefreshFamilies(shared) })
  const cursorKey = deriveKey(deps.masterKey, cursorKeyPurpose)
  const tabKeysKey = deriveKey(deps.masterKey, 'tab keys')

  async function open(tx: TenantTx, tenant: Tenant, signIn: SignIn): Promise<OpenedSession> {
    const { user, method, connectionId, address, requestId } = signIn
    const createdAtMs = now()
    // Tokens expire at whole seconds, and the session with them.
    const expiresAtMs = Math.floor(createdAtMs / 1000) * 1000 + sessionMs
    const sessionId = newSessionId()
    await insertSession(tx, {
      session_id: sessionId,
      user_id: user.userId,
      method,
      connection_id: connectionId ?? null,
      address,
      user_agent: signIn.userAgent?.slice(0, userAgentLengthMax) || null,
      created_at: formatTimestamp(createdAtMs),
      expires_at: formatTimestamp(expiresAtMs),
    })
    await users.noteSignIn(tx, user.userId)
    await governance.append(tx, tenant, {
      kind: 'auth.login',
      subject: `user:${user.userId}`,
      details: { method, ...(connectionId !== undefined && { connection_id: connectionId }), session_id: sessionId },
      actor: { subject: user.userId, clientId: webClientId, address, requestId },
    })
    const sessionToken = await tokens.sign({ tenant, sessionId, userId: user.userId, createdAtMs, expiresAtMs })
    return { sessionId, userId: user.userId, expiresAtMs, sessionToken }
  }

  return {
    ...createCurrentUserSessions({ ...shared, admission, cursorKey }),
    open,
    admit: admission.byCookie,

    async tabKey(sessionToken) {
      const named = await tokens.open(sessionToken, now())
      if (named === undefined) return undefined
      const { tenant, sessionId } = named
      return { sessionId, key: createHmac('sha256', tabKeysKey).update(`${tenant.slug} ${sessionId}`).digest('hex') }
    },

    firstToken: (tenant, { sessionId, userId }) => exchange.begin({ tenant, sessionId, userId }),

    async issue(call, sessionToken) {
      const { tenant, sessionId, user } = await admission.byCookie(call, sessionToken)
      return exchange.begin({ tenant, sessionId, userId: user.userId })
    },

    async refresh(call, refreshToken, cookie) {
      const family = cookie === undefined ? undefined : await refreshTokens.open(refreshToken, cookie, now())
      if (!family) throw unknownRefreshToken()
      await admission.byName(call, family)
      return exchange.follow(family, { address: call.address, requestId: call.requestId })
    },

    async deleteExpired(tx) {
      const before = formatTimestamp(now() - keptMs)
      return (await deleteExpiredSessions(tx, before, forgottenAtOnce)) === forgottenAtOnce
    },
  }
}
