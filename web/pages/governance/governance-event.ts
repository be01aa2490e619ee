import type { HubRecord } from '../../api/hub-record.ts'

const theHub = 'service:hub'

/** A record of type governance_event, with the members that the Hub's own have (docs/administrator.md). */
export interface GovernanceEvent {
  record_id: string
  created_at: string
  event_kind: string
  /** What it is about: `record:<id>`, `user:<id>`, `tenant:<slug>`, … Clients may leave it out. */
  subject: string | undefined
  /** Who did it, by the word of the Hub; of events of clients who wrote it, whoever they say it was. */
  actor: string
  details: Readonly<Record<string, unknown>>
}

export function governanceEventOf(record: HubRecord): GovernanceEvent {
  const { record_id, created_at, created_by, event_kind, subject, details } = record as HubRecord & {
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
    actor: created_by === theHub && typeof known.actor === 'string' ? known.actor : created_by,
    details: known,
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member of the details that is text. */
export function detail({ details }: GovernanceEvent, member: string): string | undefined {
  const value = details[member]
  return typeof value === 'string' ? value : undefined
}

/** The record that the event is about. */
export function recordIdOf({ subject }: Pick<GovernanceEvent, 'subject'>): string | undefined {
  return subject?.startsWith('record:') ? subject.slice('record:'.length) : undefined
}
