import { DomainError, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import {
  batchEventsMax,
  eventFutureMinutesMax,
  eventRelatedRecordsMax,
  metadataBytesMax,
  skillVersionLengthMax,
  tokenSumTolerance,
} from '../../../../contract/limits.ts'
import { microsOfUsd, usdOfMicros } from '../../../../contract/money.ts'
import { repeatedRecords } from '../../../../contract/related-records.ts'
import { parseTimestamp, type Timestamp } from '../../../../contract/timestamp.ts'
import { canonicalize, isJsonObject, type JsonObject, type JsonValue } from '../../../../provenance/index.ts'
import { errorAt } from '../../../http/body/json-violations.ts'
import type { Tenant } from '../../../http/caller.ts'
import { compileSchema } from '../../../http/request-validation.ts'
import { EventSchema, envelopeNames, type TelemetryEvent } from '../telemetry-schemas.ts'
import type { ValidEvent } from '../telemetry-types.ts'

const shapeErrors = compileSchema(EventSchema)
const futureMsMax = eventFutureMinutesMax * 60_000
const metadataTooLarge = `must be at most ${metadataBytesMax} bytes as canonical JSON`
/** Maximum number of members: each takes at least five bytes, as in `"":1,`, and has its own name. */
const metadataMembersMax = metadataBytesMax / 5
const membersMax = 1000
const tolerancePercent = Math.round(tokenSumTolerance * 100)

/** Bytes of fields, canonical text and the resulting row, without metadata. */
const eventBytes = 2048
/** Bytes of an id as text, in the event and in two arrays of links. */
const linkBytes = 120

/** Maximum number of faults: enough to correct a request. */
const faultsMax = 100

/**
 * Returns errors for members that only modes A and B accept: in Mode C every member outside of the envelope may be
 * content.
 */
export function contentErrors(event: JsonValue): PointedError[] {
  if (!isJsonObject(event)) return []
  return Object.keys(event)
    .filter((name) => !envelopeNames.has(name))
    .slice(0, faultsMax)
    .map((name) => errorAt([name], 'is not a field of the telemetry envelope'))
}

/** Checks an event without the tenant's catalogue. Returns all its faults, with pointers relative to the event. */
export function readEvent(input: JsonValue, nowMs: number): ValidEvent | PointedError[] {
  const excess = findExcess(input)
  if (excess.length > 0) return excess
  const faults = shapeErrors(input)
  if (faults.length === 0) {
    const event = input as unknown as TelemetryEvent
    const ts = parseTimestamp(event.ts)
    const broken = brokenRules(event, ts, nowMs)
    return ts && broken.length === 0 ? toValidEvent(event, ts) : broken
  }
  return [...faults, ...brokenRulesOfValidMembers(input, faults, nowMs)].slice(0, faultsMax)
}

/**
 * Returns faults of a size that no valid event has, before the schema's validator runs. The validator would report each
 * member of 16 MiB, which takes ten seconds and a gigabyte, and overflow its stack in a long version.
 */
function findExcess(input: JsonValue): PointedError[] {
  if (!isJsonObject(input)) return []
  const names = Object.keys(input)
  if (names.length > membersMax) {
    return names
      .filter((name) => !Object.hasOwn(EventSchema.properties, name))
      .slice(0, faultsMax)
      .map((name) => errorAt([name], 'is not a known property'))
  }
  const { metadata, related_records, skill_version } = input
  const faults: PointedError[] = []
  if (isJsonObject(metadata) && Object.keys(metadata).length > metadataMembersMax) {
    faults.push({ pointer: '/metadata', detail: metadataTooLarge })
  }
  if (Array.isArray(related_records) && related_records.length > membersMax) {
    faults.push({ pointer: '/related_records', detail: `must have at most ${eventRelatedRecordsMax} items` })
  }
  if (typeof skill_version === 'string' && skill_version.length > skillVersionLengthMax) {
    faults.push({ pointer: '/skill_version', detail: `must have at most ${skillVersionLengthMax} characters` })
  }
  return faults
}

function toValidEvent(event: TelemetryEvent, ts: Timestamp): ValidEvent {
  const costEstimateMicros = microsOfUsd(event.cost_usd_estimate)
  const normal = { ts: ts.text, cost_usd_estimate: usdOfMicros(costEstimateMicros) }
  return {
    skillId: event.skill_id,
    archetypeId: event.archetype_id,
    userId: event.user_id,
    platform: event.llm_platform,
    model: event.llm_model,
    tokensIn: event.tokens_in,
    tokensOut: event.tokens_out,
    errorCode: event.success ? undefined : (event.error_code ?? undefined),
    latencyMs: event.latency_ms,
    epochMs: ts.epochMs,
    costEstimateMicros,
    // A spread keeps the layout of an object; omitting a member would make every event a slow object.
    fields: isPlain(event) ? { ...event, ...normal } : ownFields({ ...event, ...normal }),
    relatedRecords: event.related_records?.map((id) => id.toLowerCase()),
    sizeBytes: eventBytes * (event.metadata === undefined ? 1 : 2) + linkBytes * (event.related_records?.length ?? 0),
  }
}

/** Returns whether every member is stored as a field of the event. */
function isPlain({ error_code, related_records }: TelemetryEvent): boolean {
  return error_code !== null && related_records === undefined
}

function ownFields({ error_code: code, related_records: _, ...rest }: TelemetryEvent): Record<string, JsonValue> {
  return code === undefined || code === null ? rest : { ...rest, error_code: code }
}

/** Checks the rules beyond the schema, as far as their members exist. */
function brokenRules(event: Partial<TelemetryEvent>, ts: Timestamp | undefined, nowMs: number): PointedError[] {
  const { tokens_in: tokensIn, tokens_out: tokensOut, tokens_total_reported: reported, metadata } = event
  const faults: PointedError[] = []
  const fault = (pointer: string, detail: string) => faults.push({ pointer, detail })

  if (event.ts !== undefined) {
    if (!ts) fault('/ts', 'must be an RFC 3339 timestamp, in UTC of the years 1 to 9999')
    else if (ts.epochMs > nowMs + futureMsMax) {
      fault('/ts', `must be at most ${eventFutureMinutesMax} minutes in the future`)
    }
  }
  if (event.success === false && (event.error_code === undefined || event.error_code === null)) {
    fault('/error_code', 'is required and not null when success is false')
  }
  if (reported !== undefined && tokensIn !== undefined && tokensOut !== undefined) {
    const sum = tokensIn + tokensOut
    if (missesTotal(sum, reported)) {
      fault('/tokens_total_reported', `must have tokens_in + tokens_out, ${sum}, within ${tolerancePercent} % of it`)
    }
  }
  if (event.related_records !== undefined) {
    faults.push(...repeatedRecords(event.related_records.map((id) => id.toLowerCase())))
  }
  if (metadata !== undefined && Buffer.byteLength(canonicalize(metadata)) > metadataBytesMax) {
    fault('/metadata', metadataTooLarge)
  }
  return faults
}

/** Checks the same rules for an invalid event, on its valid members only, so that no member is reported twice. */
function brokenRulesOfValidMembers(input: JsonValue, faults: readonly PointedError[], nowMs: number): PointedError[] {
  if (!isJsonObject(input)) return []
  const faulty = new Set(faults.map(({ pointer }) => pointer.split('/', 2)[1]))
  const rest: JsonObject = Object.fromEntries(Object.entries(input).filter(([name]) => !faulty.has(name)))
  const event = rest as Partial<TelemetryEvent>
  const ts = event.ts === undefined ? undefined : parseTimestamp(event.ts)
  return brokenRules(event, ts, nowMs).filter(({ pointer }) => !faulty.has(pointer.slice(1)))
}

/** Applies interface 4.3, rule 4, in whole numbers: |sum - reported| ≤ 2 % of reported. */
export function missesTotal(sum: number, reported: number): boolean {
  return Math.abs(sum - reported) * 100 > reported * tolerancePercent
}

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
      `A batch can have at most ${batchEventsMax} events, this one has ${events.length}. Split it into several requests.`,
      { errors: [{ pointer: '/events', detail: `must have at most ${batchEventsMax} events` }] },
    )
  }
  const unknownMembers = Object.keys(body)
    .filter((name) => name !== 'events')
    .slice(0, faultsMax)
    .map((name) => errorAt([name], 'is not a member of a batch'))
  if (tenant.mode === 'C') rejectContentMembers([...unknownMembers, ...contentOfEvents(events)])
  const faults = [...eventsFaults(events), ...unknownMembers]
  if (faults.length > 0) throw validationFailed(faults)
  return events as readonly JsonValue[]
}

/** Throws `content-not-allowed` if a Mode C tenant sends more than the envelope. */
export function checkContent(tenant: Tenant, event: JsonValue): void {
  if (tenant.mode === 'C') rejectContentMembers(contentErrors(event))
}

function contentOfEvents(events: JsonValue | undefined): PointedError[] {
  if (!Array.isArray(events)) return []
  return (events as readonly JsonValue[]).flatMap((event, index) =>
    contentErrors(event).map(({ pointer, detail }) => ({ pointer: `/events/${index}${pointer}`, detail })),
  )
}

function rejectContentMembers(errors: PointedError[]): void {
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
