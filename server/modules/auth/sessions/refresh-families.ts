import { randomBytes } from 'node:crypto'
import { refreshGraceSeconds } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { LiveSessions } from './live-sessions.ts'
import { reuseDetection, type SessionEnds } from './session-ends.ts'
import type { FamilyMember, NamedFamily } from './session-tokens.ts'
import { advanceFamily, dropFamilies, insertFamily, lockFamily } from './sessions-store.ts'
import type { LiveSession } from './sessions-types.ts'

/**
 * Maximum number of families of a session; the most recently used ones stay. Each call with the session cookie starts a
 * family, so this covers a day of tabs and reloads.
 */
const familiesMax = 20

interface RefreshFamiliesDeps {
  database: Database
  live: LiveSessions
  ends: SessionEnds
  governance: GovernanceLog
  now: () => number
}

/** The caller, for the event of a reused token. */
export interface RefreshOrigin {
  address: string
  requestId: string
  clientId: string
}

/** The result of a refresh. It is returned, since an error thrown inside the transaction would undo the revocation. */
export type RefreshOutcome = { live: LiveSession; member: FamilyMember } | 'over' | 'dropped' | 'reused'

/** Rotates refresh tokens: those of browsers, and those of authorized clients. */
export class RefreshFamilies {
  readonly #deps: RefreshFamiliesDeps

  constructor(deps: RefreshFamiliesDeps) {
    this.#deps = deps
  }

  /** Starts a family of a session that the transaction has locked. */
  async begin(tx: TenantTx, sessionId: string): Promise<FamilyMember> {
    const nowMs = this.#deps.now()
    const rotatedAt = formatTimestamp(nowMs)
    const familyId = `fam_${randomBytes(18).toString('base64url')}`
    await insertFamily(tx, {
      family_id: familyId,
      session_id: sessionId,
      generation: 1,
      rotated_at: rotatedAt,
      created_at: rotatedAt,
    })
    await dropFamilies(tx, sessionId, familiesMax)
    return { familyId, generation: 1, rotatedAtMs: nowMs }
  }

  /** Returns the generation that follows a refresh token. Reuse after the grace period ends the session. */
  follow(family: NamedFamily, origin: RefreshOrigin): Promise<RefreshOutcome> {
    return this.#deps.database.withTenant(family.tenant.slug, (tx) => this.#rotate(tx, family, origin))
  }

  /**
   * Rotates a family. The transaction locks the session, so one of many concurrent calls rotates and the others find
   * its successor.
   */
  async #rotate(tx: TenantTx, named: NamedFamily, origin: RefreshOrigin): Promise<RefreshOutcome> {
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
    { tenant, sessionId, user, clientName }: LiveSession,
    { familyId, generation }: NamedFamily,
    currentGeneration: number,
    origin: RefreshOrigin,
  ): Promise<void> {
    const { address, requestId } = origin
    await this.#deps.ends.end(tx, tenant, sessionId, {
      actor: reuseDetection,
      reason: 'refresh_reused',
      details: { address, request_id: requestId },
    })
    await this.#deps.governance.append(tx, tenant, {
      kind: 'auth.refresh_reuse_detected',
      subject: `user:${user.userId}`,
      details: {
        session_id: sessionId,
        family_id: familyId,
        generation,
        current_generation: currentGeneration,
        ...(clientName !== undefined && { client_name: clientName }),
      },
      actor: { subject: user.userId, ...origin },
    })
  }
}
