import type { HubRecord } from '../api/hub-record.ts'
import { isObject } from '../ui/is-object.ts'

/** The author of governance events that the Hub writes itself. */
const theHub = 'service:hub'

/**
 * Returns the actor of a record. The Hub writes its governance events itself and names the actor in their details; in
 * an event of a client that member proves nothing, so its author counts.
 */
export function actorOf(record: Pick<HubRecord, 'created_by'> & { details?: unknown }): string {
  const { created_by, details } = record
  if (created_by !== theHub || !isObject(details)) return created_by
  return typeof details.actor === 'string' ? details.actor : created_by
}

/** Returns the name of the agent that acted for the actor of an event of the Hub. */
export function agentOf({ created_by, details }: Parameters<typeof actorOf>[0]): string | undefined {
  if (created_by !== theHub || !isObject(details) || !isObject(details.agent)) return undefined
  const { client_name: name } = details.agent
  return typeof name === 'string' ? name : undefined
}

/**
 * Returns the person, service account or operator who caused a record. If a part of the Hub caused it, returns the
 * author of the record, which is the Hub.
 */
export function causeOf(record: Parameters<typeof actorOf>[0]): string {
  const actor = actorOf(record)
  return actor.startsWith('service:') ? record.created_by : actor
}
