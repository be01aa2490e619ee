import type { JsonValue } from '../../../provenance/json.ts'
import type { EventBus } from '../../event-bus.ts'
import { agentDetails } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { RecordWriter } from '../records/records-types.ts'
import type { RecordDraft, RecordSealer } from '../sealing/sealing-types.ts'
import type { Actor, ClientEvents, GovernanceEvent, GovernanceLog } from './governance-types.ts'

/** The `created_by` of every record that the service writes itself. */
const serviceSubject = 'service:hub'

/** Creates the governance log. Governance events are ordinary records: sealed, co-signed and found by `event_kind`. */
export function createGovernanceLog(deps: {
  sealer: RecordSealer
  writer: RecordWriter
  events: EventBus
}): GovernanceLog & ClientEvents {
  const { sealer, writer } = deps
  const publish: ClientEvents['written'] = (tx, tenant, ...events) =>
    deps.events.publishInTransaction(tx, 'governanceWritten', { tenant, events })
  const appendAll: GovernanceLog['appendAll'] = async (tx, tenant, events) => {
    if (events.length === 0) return []
    const drafts = events.map(draftOf)
    const batch = await sealer.seal(tenant, drafts, tx)
    await writer.insert(tx, batch)
    await publish(
      tx,
      tenant,
      ...batch.records.map((record, at) => ({
        ...record,
        kind: events[at]!.kind,
        subject: events[at]!.subject,
        details: drafts[at]!.fields.details,
      })),
    )
    return batch.records.map(({ recordId }) => ({ recordId }))
  }
  return {
    append: async (tx, tenant, event) => (await appendAll(tx, tenant, [event]))[0]!,
    appendAll,
    written: publish,
  }
}

function draftOf({ kind, subject, details, actor }: GovernanceEvent) {
  return {
    recordType: 'governance_event',
    createdBy: serviceSubject,
    fields: { event_kind: kind, subject, details: { ...details, ...actorDetails(actor) } },
  } satisfies RecordDraft
}

function originDetails({ address, requestId }: { address?: string; requestId?: string }): Record<string, JsonValue> {
  return { ...(address !== undefined && { address }), ...(requestId !== undefined && { request_id: requestId }) }
}

function actorDetails(actor: Actor): Record<string, JsonValue> {
  if ('operator' in actor) return { actor: `operator:${actor.operator}`, ...originDetails(actor) }
  if ('service' in actor) return { actor: `service:${actor.service}` }
  return { actor: actor.subject, ...agentDetails(actor), address: actor.address, request_id: actor.requestId }
}

/** Creates the log of an operator's service-wide actions: each concerns every tenant, and is in the log of each. */
export function createServiceEvents(deps: Pick<ModuleParts, 'database' | 'directory' | 'governance'>) {
  const { database, directory, governance } = deps
  return {
    /** Writes the event for every tenant, one transaction each. */
    async tell(event: { subject: string; details: Record<string, JsonValue>; actor: Actor }): Promise<void> {
      for (const slug of await directory.slugs()) {
        const tenant = await directory.find(slug, { evenSuspended: true })
        if (!tenant) continue
        await database.withTenant(slug, (tx) =>
          governance.append(tx, tenant, { kind: 'tenant.config_changed', ...event }),
        )
      }
    },
  }
}
