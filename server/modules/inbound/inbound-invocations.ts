import { createHmac } from 'node:crypto'
import { DomainError, type PointedError } from '../../../contract/domain-error.ts'
import type { JsonObject } from '../../../provenance/json.ts'
import type { Caller } from '../../http/caller.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import type { Telemetry } from '../telemetry/telemetry-types.ts'
import type { InboundSender } from './inbound-access.ts'
import { below, type InboundMessage } from './inbound-message.ts'

/** The address and the id of a request. */
export type Origin = Pick<Caller, 'address' | 'requestId'>

export type InboundInvocations = ReturnType<typeof createInboundInvocations>

/** Creates the part that stores skill invocations from a chat platform as telemetry. */
export function createInboundInvocations(deps: { telemetry: Telemetry; masterKey: Buffer }) {
  const { telemetry } = deps
  // Derived from the master key, so that no client of the tenant can occupy the key of a future message.
  const key = deriveKey(deps.masterKey, 'idempotency keys of inbound messages')
  const keyOf = ({ tenant, connectionId }: InboundSender, id: string) =>
    createHmac('sha256', key).update(`${tenant.slug}\0${connectionId}\0${id}`).digest('base64url')

  return {
    /** Returns problems with pointers relative to `data`. */
    problemsIn: (data: JsonObject, platform: string): PointedError[] => telemetry.problemsIn(eventOf(data, platform)),

    /**
     * Stores the event once, even if the message arrives several times: the id of the message identifies it. Returns
     * whether the event was stored now. Throws as `Telemetry.ingestEvent` does, with pointers into the message.
     */
    async ingest(sender: InboundSender, { id, data }: InboundMessage, platform: string, origin: Origin) {
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
        // The event was stored from another message with this id, or erased since; only the note was lost.
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
