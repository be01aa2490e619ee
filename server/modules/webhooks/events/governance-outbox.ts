import type { TenantMode } from '../../../../contract/literals.ts'
import { governancePrefix } from '../../../../contract/webhook-events.ts'
import type { JsonObject } from '../../../../provenance/json.ts'
import type { UserProfiles } from '../../roster/roster-types.ts'
import type { GovernanceOutbox, OutgoingMessage, WebhookOutbox, WrittenEvent } from '../webhooks-types.ts'
import { userMessages } from './user-messages.ts'

export function createGovernanceOutbox(deps: {
  outbox: Pick<WebhookOutbox, 'wanted' | 'add'>
  profiles: UserProfiles
}): GovernanceOutbox {
  const { outbox, profiles } = deps
  return {
    async written(tx, tenant, events) {
      if (events.length === 0) return
      const wants = await outbox.wanted(tx)
      const wanted = events.filter(({ kind }) => wants(governancePrefix + kind))
      const messages = wanted.map((event) => messageOf(event, tenant.mode))
      await outbox.add(tx, [...messages, ...(await userMessages(tx, profiles, wants, events))])
    },
  }
}

function messageOf(event: WrittenEvent, mode: TenantMode): OutgoingMessage {
  const { recordId, createdAt, createdBy, provenanceHash, kind } = event
  return {
    kind: governancePrefix + kind,
    occurredAt: createdAt,
    data: {
      record_id: recordId,
      event_kind: kind,
      ...wordsOf(event, mode),
      created_at: createdAt,
      created_by: createdBy,
      provenance_hash: provenanceHash,
    },
    recordId,
  }
}

/**
 * Returns subject and details. In Mode B the text of a client is under the customer's key, so no copy is stored beside
 * it, not even briefly.
 */
function wordsOf({ kind, subject, details }: WrittenEvent, mode: TenantMode): JsonObject {
  if (mode === 'B' && kind.startsWith('custom.')) return {}
  return { ...(subject !== undefined && { subject }), ...(details !== undefined && { details }) }
}
