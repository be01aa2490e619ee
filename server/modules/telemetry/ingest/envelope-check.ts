import { DomainError, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { batchEventsMax } from '../../../../contract/limits.ts'
import { isJsonObject, type JsonValue } from '../../../../provenance/index.ts'
import { errorAt } from '../../../http/body/json-violations.ts'
import type { Tenant } from '../../../http/caller.ts'
import { contentErrors, faultsMax } from './event-check.ts'

/**
 * Returns the events of a batch. Throws `batch-too-large`, `content-not-allowed` (Mode C) and `validation-failed` for
 * the request as a whole.
 */
export function eventsOf(tenant: Tenant, body: JsonValue): readonly JsonValue[] {
  if (!isJsonObject(body)) throw validationFailed([{ pointer: '', detail: 'must be an object with `events`' }])
  const { events } = body
  if (Array.isArray(events) && events.length > batchEventsMax) {
    throw new DomainError(
      'batch-too-large',
      `A batch takes at most ${batchEventsMax} events, this one has ${events.length}. Split it over several requests.`,
      { errors: [{ pointer: '/events', detail: `must have at most ${batchEventsMax} events` }] },
    )
  }
  const strangers = Object.keys(body)
    .filter((name) => name !== 'events')
    .slice(0, faultsMax)
    .map((name) => errorAt([name], 'is not a member of a batch'))
  if (tenant.mode === 'C') refuseContent([...strangers, ...contentOfEvents(events)])
  const faults = [...eventsFaults(events), ...strangers]
  if (faults.length > 0) throw validationFailed(faults)
  return events as readonly JsonValue[]
}

/** Throws `content-not-allowed` if a Mode C tenant sends more than the envelope. */
export function checkContent(tenant: Tenant, event: JsonValue): void {
  if (tenant.mode === 'C') refuseContent(contentErrors(event))
}

function contentOfEvents(events: JsonValue | undefined): PointedError[] {
  if (!Array.isArray(events)) return []
  return (events as readonly JsonValue[]).flatMap((event, index) =>
    contentErrors(event).map(({ pointer, detail }) => ({ pointer: `/events/${index}${pointer}`, detail })),
  )
}

function refuseContent(errors: PointedError[]): void {
  if (errors.length === 0) return
  const named = errors.slice(0, faultsMax)
  throw new DomainError(
    'content-not-allowed',
    'This tenant runs in Mode C and sends telemetry envelopes only. Remove ' +
      `${named.map((error) => error.pointer).join(', ')}${errors.length > named.length ? ' and more' : ''}.`,
    { errors: named },
  )
}

function eventsFaults(events: JsonValue | undefined): PointedError[] {
  const fault = (detail: string) => [{ pointer: '/events', detail }]
  if (events === undefined) return fault('is required')
  if (!Array.isArray(events)) return fault(`must be an array of 1 to ${batchEventsMax} events`)
  return events.length === 0 ? fault('must have at least one event') : []
}
