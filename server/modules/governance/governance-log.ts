import type { JsonValue } from '../../../provenance/json.ts'
import type { RecordDraft, RecordSealer, RecordWriter } from '../hub/hub-types.ts'
import type { Actor, GovernanceLog } from './governance-types.ts'

/** `created_by` of every record that the service writes itself. */
const serviceSubject = 'service:hub'

/** Governance events are records like any other: sealed, co-signed and found by `event_kind`. */
export function createGovernanceLog(deps: { sealer: RecordSealer; writer: RecordWriter }): GovernanceLog {
  const { sealer, writer } = deps
  return {
    async append(tx, tenant, event) {
      const draft: RecordDraft = {
        recordType: 'governance_event',
        createdBy: serviceSubject,
        fields: {
          event_kind: event.kind,
          subject: event.subject,
          details: { ...event.details, ...actorDetails(event.actor) },
        },
      }
      const batch = await sealer.seal(tenant, [draft], tx)
      await writer.insert(tx, batch)
      return { recordId: batch.records[0]!.recordId }
    },
  }
}

function actorDetails(actor: Actor): Record<string, JsonValue> {
  if ('operator' in actor) return { actor: `operator:${actor.operator}` }
  if ('service' in actor) return { actor: `service:${actor.service}` }
  return { actor: actor.subject, address: actor.address, request_id: actor.requestId }
}
