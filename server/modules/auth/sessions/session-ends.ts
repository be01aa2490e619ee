import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { Actor, GovernanceLog } from '../../governance/governance-types.ts'
import type { TokenRevoker } from '../auth-types.ts'
import { type EndedSession, endSession, endSessionsOf } from './sessions-store.ts'

/** The end of sessions: who caused it and why, for the event of each authorization among them. */
export interface SessionEnd {
  actor: Actor
  reason: 'requested' | 'signed_out_everywhere' | 'deactivated' | 'code_reused' | 'refresh_reused'
  /** Further details of the event. */
  details?: Record<string, JsonValue>
}

/**
 * Ends sessions with their access tokens, in the transaction of the cause. No other code ends a session, so every
 * authorization of a client that ends has an event.
 */
export class SessionEnds {
  readonly #deps: { revoker: TokenRevoker; governance: GovernanceLog; now: () => number }

  constructor(deps: { revoker: TokenRevoker; governance: GovernanceLog; now: () => number }) {
    this.#deps = deps
  }

  /** Ends a session. Returns it if it was live. */
  async end(tx: TenantTx, tenant: Tenant, sessionId: string, end: SessionEnd): Promise<EndedSession | undefined> {
    const ended = await endSession(tx, sessionId, formatTimestamp(this.#deps.now()))
    if (ended) await this.#ended(tx, tenant, [ended], end)
    return ended
  }

  /** Ends all sessions of a person. */
  async endAll(tx: TenantTx, tenant: Tenant, userId: string, end: SessionEnd): Promise<void> {
    await this.#ended(tx, tenant, await endSessionsOf(tx, userId, formatTimestamp(this.#deps.now())), end)
  }

  async #ended(tx: TenantTx, tenant: Tenant, ended: readonly EndedSession[], end: SessionEnd): Promise<void> {
    const { revoker, governance } = this.#deps
    const principals = ended.map(({ session_id: id }) => `session:${id}` as const)
    await revoker.revokeAll(tx, principals, 1)
    const events = ended.flatMap(({ session_id, user_id, client_name }) =>
      client_name === null
        ? []
        : {
            kind: 'auth.client_revoked' as const,
            subject: `user:${user_id}`,
            details: { session_id, client_name, reason: end.reason, ...end.details },
            actor: end.actor,
          },
    )
    await governance.appendAll(tx, tenant, events)
  }
}

/** Detects a code or refresh token that is used again. Two parties hold it, so the event names neither as the actor. */
export const reuseDetection: Actor = { service: 'access-control' }
