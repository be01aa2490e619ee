import { DomainError, type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { batchErrorsMax } from '../../../contract/limits.ts'
import { operations } from '../../../contract/operations.ts'
import { problems } from '../../../contract/problems.ts'
import { isJsonObject, type JsonValue } from '../../../provenance/index.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import { createEventLoopYielder } from '../../http/event-loop-yielder.ts'
import type { Idempotency } from '../idempotency/idempotency-types.ts'
import type { RecordReceipt } from '../records/records-types.ts'
import { checkContent, eventsOf, readEvent } from './ingest/event-check.ts'
import type { EventWriter } from './ingest/event-writer.ts'
import type { GroupCommit } from './ingest/group-commit.ts'
import {
  type Catalogues,
  type References,
  referencesAt,
  referencesOf,
  refusalOf,
} from './ingest/telemetry-catalogue.ts'
import type { TenantLive } from './ingest/tenant-live-service.ts'
import type { BatchAnswer, BatchFacts, Catalogue, Refusal, Telemetry, ValidEvent } from './telemetry-types.ts'

/** Events between two yields: ordinary ones take a fraction of a millisecond, and the largest valid ones a few. */
const eventsPerTurn = 8
/** Maximum number of characters that explain one refused event. A hundred faults fit unless their names are long. */
const detailLengthMax = 16 * 1024

type Reading = ValidEvent | PointedError[]

export function createTelemetry(deps: {
  idempotency: Idempotency
  catalogues: Catalogues
  writer: EventWriter
  groups: GroupCommit
  live: TenantLive
  nowMs?: () => number
}): Telemetry {
  const { idempotency, catalogues, writer, groups, live, nowMs = Date.now } = deps

  /** Returns the references of the events. Before it refuses one, it reads the catalogue again. */
  async function referencesFor(tenant: Tenant, readings: readonly Reading[]): Promise<References> {
    let catalogue = await catalogues.of(tenant.slug)
    if (!acceptsAll(catalogue, tenant, readings)) catalogue = await catalogues.fresh(tenant.slug)
    if (!isReady(catalogue, tenant)) {
      throw new DomainError(
        'hub-not-provisioned',
        'This tenant runs in Mode B and its Hub has no key yet. Call POST /api/v1/hub/provision with `cmek` first.',
      )
    }
    return referencesOf(catalogue, await missingAmong(tenant, readings))
  }

  /** Returns the ids in `related_records` that name no record. Queries the database only if an event has any. */
  async function missingAmong(tenant: Tenant, readings: readonly Reading[]): Promise<ReadonlySet<string> | undefined> {
    const named = readings.flatMap((reading) => (Array.isArray(reading) ? [] : (reading.relatedRecords ?? [])))
    return named.length > 0 ? writer.missing(tenant, named) : undefined
  }

  async function replayBatch(caller: Caller, events: readonly JsonValue[], facts: BatchFacts): Promise<BatchAnswer> {
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
          const refusal = refusalOf(reading, await referencesFor(tenant, [reading]))
          if (refusal) throw new DomainError(refusal.slug, detailOf(refusal), { errors: refusal.errors })
          const answerOf = ([receipt]: readonly RecordReceipt[]) => ({ record_id: receipt!.record_id })
          const [answer] = await groups.store(tenant, { caller, events: [reading], claim, answerOf })
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
          const references = await referencesFor(tenant, readings)
          const { accepted, refused } = partitionByRefusal(readings, references)
          const answerOf = (receipts: readonly RecordReceipt[]) =>
            factsOf(readMs, receipts, readings, refused, references)
          const submitted = { caller, events: accepted.map(({ event }) => event), claim, answerOf }
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

async function readEvents(events: readonly JsonValue[], nowMs: number): Promise<Reading[]> {
  const yieldIfLong = createEventLoopYielder()
  const readings: Reading[] = []
  for (const event of events) {
    const reading = readEvent(event, nowMs)
    readings.push(reading)
    // A refused event may have taken much longer.
    if (Array.isArray(reading) || readings.length % eventsPerTurn === 0) await yieldIfLong()
  }
  return readings
}

/** Returns the error for a repeated request whose record was erased since. */
function goneError(): DomainError {
  return new DomainError('not-found', 'The record of this Idempotency-Key no longer exists.')
}

function isReady(catalogue: Catalogue, tenant: Tenant): boolean {
  return tenant.mode !== 'B' || catalogue.provisioned
}

function acceptsAll(catalogue: Catalogue, tenant: Tenant, readings: readonly Reading[]): boolean {
  const references = referencesOf(catalogue)
  return (
    isReady(catalogue, tenant) &&
    readings.every((reading) => Array.isArray(reading) || refusalOf(reading, references) === undefined)
  )
}

function partitionByRefusal(readings: readonly Reading[], references: References) {
  const accepted: { index: number; event: ValidEvent }[] = []
  const refused = new Map<number, Refusal>()
  for (const [index, reading] of readings.entries()) {
    const refusal = refusalOf(reading, references)
    if (refusal) refused.set(index, refusal)
    else accepted.push({ index, event: reading as ValidEvent })
  }
  return { accepted, refused }
}

function factsOf(
  readMs: number,
  receipts: readonly RecordReceipt[],
  readings: readonly Reading[],
  refused: ReadonlyMap<number, Refusal>,
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
 * Returns the refusal of a repeated request. Another version of the service may have refused an event that this one
 * accepts.
 */
function refusalAtFirstRequest(event: JsonValue, facts: BatchFacts, references: References): Refusal {
  return (
    refusalOf(readEvent(event, facts.now_ms), references) ?? {
      slug: 'validation-failed',
      errors: [{ pointer: '', detail: 'was refused when the request was first made' }],
    }
  )
}

function detailOf(refusal: Refusal): string {
  return refusal.errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')
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
  records: BatchAnswer['records'],
  refused: ReadonlyMap<number, Refusal>,
): BatchAnswer {
  const listed = [...refused].slice(0, batchErrorsMax)
  const errors = listed.map(([index, refusal]) => batchError(baseUrl, index, refusal))
  const omitted = refused.size - errors.length
  return {
    accepted: records.length,
    failed: refused.size,
    records,
    ...(errors.length > 0 && { errors }),
    ...(omitted > 0 && { errors_omitted: omitted }),
  }
}

function batchError(baseUrl: string, index: number, refusal: Refusal): NonNullable<BatchAnswer['errors']>[number] {
  const { title, status } = problems[refusal.slug]
  const pointerOf = (pointer: string) => `/events/${index}${pointer}`
  return {
    index,
    type: `${baseUrl}/errors/${refusal.slug}`,
    title,
    status,
    detail: joinedUpTo(refusal.errors.map(({ pointer, detail }) => `${pointerOf(pointer)} ${detail}`)),
    pointer: pointerOf(refusal.errors[0]!.pointer),
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
