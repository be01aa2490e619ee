import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { batchErrorsMax } from '../../../contract/limits.ts'
import { operations } from '../../../contract/operations.ts'
import { problems } from '../../../contract/problems.ts'
import { isJsonObject, type JsonValue } from '../../../provenance/index.ts'
import type { Caller } from '../../http/caller.ts'
import type { Idempotency } from '../idempotency/idempotency-types.ts'
import type { RecordReceipt } from '../records/records-types.ts'
import { checkContent, eventsOf, readEvent } from './ingest/event-check.ts'
import type { EventWriter } from './ingest/event-writer.ts'
import type { GroupCommit } from './ingest/group-commit.ts'
import {
  partitionByRejection,
  type Reading,
  type ReferenceReader,
  type References,
  readEvents,
  referencesAt,
  rejectionOf,
} from './ingest/telemetry-catalogue.ts'
import type { TenantLive } from './ingest/tenant-live-service.ts'
import type { BatchFacts, BatchResponse, KeyedIngest, Rejection, Telemetry } from './telemetry-types.ts'

/** Maximum number of characters that explain one refused event. A hundred faults fit unless their names are long. */
const detailLengthMax = 16 * 1024

export function createTelemetry(deps: {
  idempotency: Idempotency
  references: ReferenceReader
  writer: EventWriter
  groups: GroupCommit
  live: TenantLive
  nowMs?: () => number
}): Omit<Telemetry, keyof KeyedIngest> {
  const { idempotency, references: referenceReader, writer, groups, live, nowMs = Date.now } = deps

  async function replayBatch(caller: Caller, events: readonly JsonValue[], facts: BatchFacts): Promise<BatchResponse> {
    const references = referencesAt(facts)
    const refused = new Map(facts.refused.map((at) => [at, refusalAtFirstRequest(events[at]!, facts, references)]))
    const places = [...events.keys()].filter((index) => !refused.has(index))
    const receipts = new Map(
      (await writer.receipts(caller.tenant, facts.record_ids)).map((receipt) => [receipt.record_id, receipt]),
    )
    const records = facts.record_ids.flatMap((id, at) => {
      const receipt = receipts.get(id)
      return receipt ? [{ index: places[at]!, ...receipt }] : []
    })
    return toBatchResponse(caller.tenant.baseUrl, records, refused)
  }

  return {
    problemsIn(event) {
      const reading = readEvent(event, nowMs())
      return Array.isArray(reading) ? reading : []
    },

    async ingestEvent(caller, body, idempotencyKey) {
      const { tenant } = caller
      checkContent(tenant, body)
      const reading = readEvent(body, nowMs())
      if (Array.isArray(reading)) throw validationFailed(reading)
      const request = await idempotency.requestOf(tenant.slug, idempotencyKey, operations.ingestEvent.path, body)
      const ingested = await idempotency.once(
        request,
        async (claim) => {
          const rejection = rejectionOf(reading, await referenceReader.of(tenant, [reading]))
          if (rejection) throw new DomainError(rejection.slug, detailOf(rejection), { errors: rejection.errors })
          const responsesOf = ([receipt]: readonly RecordReceipt[]) => [{ record_id: receipt!.record_id }]
          const [answer] = await groups.store(tenant, { caller, events: [reading], claim, responsesOf })
          return { answer: answer!, replayed: false }
        },
        async (stored) => {
          const [answer] = await writer.receipts(tenant, [recordIdOf(stored)])
          if (!answer) throw goneError()
          return { answer, replayed: true }
        },
      )
      await live.ensure(caller, ingested.answer.record_id)
      return ingested
    },

    async ingestBatch(caller, body, idempotencyKey) {
      const { tenant } = caller
      const events = eventsOf(tenant, body)
      const request = await idempotency.requestOf(tenant.slug, idempotencyKey, operations.ingestBatch.path, body)
      const ingested = await idempotency.once(
        request,
        async (claim) => {
          const readMs = nowMs()
          const readings = await readEvents(events, readMs)
          const references = await referenceReader.of(tenant, readings)
          const { accepted, refused } = partitionByRejection(readings, references)
          const responsesOf = (receipts: readonly RecordReceipt[]) => [
            factsOf(readMs, receipts, readings, refused, references),
          ]
          const submitted = { caller, events: accepted.map(({ event }) => event), claim, responsesOf }
          const receipts = accepted.length > 0 || claim ? await groups.store(tenant, submitted) : []
          const records = receipts.map((receipt, at) => ({ index: accepted[at]!.index, ...receipt }))
          return { answer: toBatchResponse(tenant.baseUrl, records, refused), replayed: false }
        },
        async (stored) => ({ answer: await replayBatch(caller, events, readFacts(stored)), replayed: true }),
      )
      const first = ingested.answer.records[0]
      if (first) await live.ensure(caller, first.record_id)
      return ingested
    },
  }
}

/** Returns the error for a repeated request whose record was erased since. */
function goneError(): DomainError {
  return new DomainError('not-found', 'The record of this Idempotency-Key no longer exists.')
}

function factsOf(
  readMs: number,
  receipts: readonly RecordReceipt[],
  readings: readonly Reading[],
  refused: ReadonlyMap<number, Rejection>,
  references: References,
): BatchFacts {
  const archetypes = new Set<string>()
  const skills = new Set<string>()
  const records = new Set<string>()
  for (const index of refused.keys()) {
    const reading = readings[index]!
    if (Array.isArray(reading)) continue
    if (!references.hasArchetype(reading.archetypeId)) archetypes.add(reading.archetypeId)
    if (!references.takesSkill(reading.skillId)) skills.add(reading.skillId)
    for (const id of reading.relatedRecords ?? []) if (!references.hasRecord(id)) records.add(id)
  }
  return {
    now_ms: readMs,
    record_ids: receipts.map((receipt) => receipt.record_id),
    refused: [...refused.keys()],
    unknown_archetypes: [...archetypes],
    unregistered_skills: [...skills],
    ...(records.size > 0 && { unknown_records: [...records] }),
  }
}

/**
 * Returns the rejection of a repeated request. Another version of the service may have refused an event that this one
 * accepts.
 */
function refusalAtFirstRequest(event: JsonValue, facts: BatchFacts, references: References): Rejection {
  return (
    rejectionOf(readEvent(event, facts.now_ms), references) ?? {
      slug: 'validation-failed',
      errors: [{ pointer: '', detail: 'was refused when the request was first made' }],
    }
  )
}

function detailOf(rejection: Rejection): string {
  return rejection.errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')
}

function recordIdOf(stored: JsonValue): string {
  if (!isJsonObject(stored) || typeof stored.record_id !== 'string') {
    throw new Error('the stored answer of an event names no record')
  }
  return stored.record_id
}

/** Parses the stored response of {@link factsOf}. */
function readFacts(stored: JsonValue): BatchFacts {
  if (!isJsonObject(stored)) throw new Error('the stored answer of a batch is not an object')
  return stored as unknown as BatchFacts
}

/** @param refused the index and reason of each refused event, in order */
function toBatchResponse(
  baseUrl: string,
  records: BatchResponse['records'],
  refused: ReadonlyMap<number, Rejection>,
): BatchResponse {
  const listed = [...refused].slice(0, batchErrorsMax)
  const errors = listed.map(([index, rejection]) => batchError(baseUrl, index, rejection))
  const omitted = refused.size - errors.length
  return {
    accepted: records.length,
    failed: refused.size,
    records,
    ...(errors.length > 0 && { errors }),
    ...(omitted > 0 && { errors_omitted: omitted }),
  }
}

function batchError(
  baseUrl: string,
  index: number,
  rejection: Rejection,
): NonNullable<BatchResponse['errors']>[number] {
  const { title, status } = problems[rejection.slug]
  const pointerOf = (pointer: string) => `/events/${index}${pointer}`
  return {
    index,
    type: `${baseUrl}/errors/${rejection.slug}`,
    title,
    status,
    detail: joinedUpTo(rejection.errors.map(({ pointer, detail }) => `${pointerOf(pointer)} ${detail}`)),
    pointer: pointerOf(rejection.errors[0]!.pointer),
  }
}

/** Joins faults up to the maximum length, but at least one, and counts the others. */
function joinedUpTo(faults: readonly string[]): string {
  let length = 0
  const listed = faults.filter((fault, at) => {
    length += fault.length
    return at === 0 || length <= detailLengthMax
  })
  const others = faults.length - listed.length
  return `${listed.join('; ')}${others > 0 ? `; and ${others} more` : ''}`
}
