import { createHmac } from 'node:crypto'
import { DomainError, type PointedError } from '../../../contract/domain-error.ts'
import type { JsonObject } from '../../../provenance/json.ts'
import type { Caller } from '../../http/caller.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import type { Telemetry } from '../telemetry/telemetry-types.ts'
import type { InboundSender } from './inbound-access.ts'
import { below, type InboundMessage } from './inbound-message.ts'

/** Where a request came from. */
export type Origin = Pick<Caller, 'address' | 'requestId'>

/** What a chat platform tells of skills, as telemetry. */
export interface InboundInvocations {
  /** With pointers relative to `data`. */
  problemsIn(data: JsonObject, platform: string): PointedError[]
  /**
   * Stores the event once, however often the message comes: what it was stored for is known by the message's id.
   * Answers whether it was stored now. Throws as `Telemetry.ingestEvent` does, with pointers into the message.
   */
  ingest(sender: InboundSender, message: InboundMessage, platform: string, origin: Origin): Promise<boolean>
}

export function createInboundInvocations(deps: { telemetry: Telemetry; masterKey: Buffer }): InboundInvocations {
  const { telemetry } = deps
  // Of the master key, so that no client of the tenant can take the key of a message that is to come.
  const key = deriveKey(deps.masterKey, 'idempotency keys of inbound messages')
  const keyOf = ({ tenant, connectionId }: InboundSender, id: string) =>
    createHmac('sha256', key).update(`${tenant.slug}\0${connectionId}\0${id}`).digest('base64url')

  return {
    problemsIn: (data, platform) => telemetry.problemsIn(eventOf(data, platform)),

    async ingest(sender, { id, data }, platform, origin) {
      const { connectionId, tenant } = sender
      const caller: Caller = {
        subject: connectionId,
        clientId: connectionId,
        tokenId: connectionId,
        tenant,
        scopes: new Set(['telemetry:write']),
        ...origin,
      }
      try {
        return !(await telemetry.ingestEvent(caller, eventOf(data, platform), keyOf(sender, id))).replayed
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        // It was stored, with what another message of the id said, or has been erased since; only the note was lost.
        if (error.slug === 'idempotency-conflict' || error.slug === 'not-found') return false
        if (error.errors === undefined) throw error
        const errors = below(error.errors)
        const detail = errors.map((each) => `${each.pointer} ${each.detail}`).join('; ')
        throw new DomainError(error.slug, detail, { errors, cause: error })
      }
    },
  }
}

function eventOf(data: JsonObject, platform: string): JsonObject {
  return Object.hasOwn(data, 'llm_platform') ? data : { ...data, llm_platform: platform }
}
