import type { HubRecord } from '../../api/hub-record.ts'
import { actorOf, agentOf } from '../../components/record-actor.ts'
import { isObject } from '../../ui/is-object.ts'

/** A record of type governance_event, with the members of the Hub's own events (docs/audit-log.md). */
export interface GovernanceEvent {
  record_id: string
  created_at: string
  event_kind: string
  /** The subject: `record:<id>`, `user:<id>`, `tenant:<slug>`, … Clients may omit it. */
  subject: string | undefined
  /**
   * The actor, as the Hub determined it; in events of clients, the client that wrote the event, regardless of its
   * details.
   */
  actor: string
  /** The name of the agent by which the actor did it. */
  agent?: string | undefined
  details: Readonly<Record<string, unknown>>
}

export function governanceEventOf(record: HubRecord): GovernanceEvent {
  const { record_id, created_at, event_kind, subject, details } = record as HubRecord & {
    event_kind?: unknown
    subject?: unknown
    details?: unknown
  }
  const known = isObject(details) ? details : {}
  return {
    record_id,
    created_at,
    event_kind: String(event_kind),
    subject: typeof subject === 'string' ? subject : undefined,
    actor: actorOf(record),
    agent: agentOf(record),
    details: known,
  }
}

/** Returns a member of the details if it is a string. */
export function detail({ details }: GovernanceEvent, member: string): string | undefined {
  const value = details[member]
  return typeof value === 'string' ? value : undefined
}

/** Returns the id of the record that the event is about. */
export function recordIdOf({ subject }: Pick<GovernanceEvent, 'subject'>): string | undefined {
  return subject?.startsWith('record:') ? subject.slice('record:'.length) : undefined
}
